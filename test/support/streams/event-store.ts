import { cp, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { brokerAccount } from '../../../shared/wire/rights.ts';
import type { TestServer } from '../nats.ts';

/** The files of a stream, by default the event stream, of a server that does not run: what a disk, a backup or an operator may do to them. */
export const eventStoreOf = ({ storeDir }: TestServer, stream = 'NATTER_EVENTS') => {
  const streams = join(storeDir, 'store', 'jetstream', brokerAccount, 'streams');
  const folder = join(streams, stream);
  const copyOf = (name: string): string => join(storeDir, `copy-${stream}-${name}`);
  return {
    copyAs: (name: string): Promise<void> => cp(folder, copyOf(name), { recursive: true }),
    putBack: async (name: string): Promise<void> => {
      await rm(folder, { recursive: true });
      await cp(copyOf(name), folder, { recursive: true });
    },
    moveAwayAs: (name: string): Promise<void> => rename(folder, copyOf(name)),
    /** Flips one bit of the message that has `text`, in the last block; the summary that would hide it is gone too. */
    flipBitAt: async (text: string): Promise<void> => {
      const messages = join(folder, 'msgs');
      await rm(join(messages, 'index.db'), { force: true });
      const blocks = (await readdir(messages)).filter((name) => name.endsWith('.blk')).sort();
      const block = await open(join(messages, blocks.at(-1) ?? ''), 'r+');
      const bytes = await block.readFile();
      const at = bytes.indexOf(text);
      if (at < 0) throw new Error(`the block has no ${text}`);
      await block.write(Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
      await block.close();
    },
  };
};
