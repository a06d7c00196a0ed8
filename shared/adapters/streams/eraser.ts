import type { SessionKey } from '../../domain/keys/session-key.ts';
import { memoryIdsOf } from '../../domain/memory/order.ts';
import { attachedIn } from '../../domain/session/attached.ts';
import { isErasure } from '../../domain/session/chain.ts';
import type { RecordedCommit } from '../../domain/session/envelope.ts';
import { fold, initialState, toPlain } from '../../domain/session/fold/evolve.ts';
import type { DeliveryTarget } from '../../domain/values/types.ts';
import type { Clock } from '../../kit/clock.ts';
import { NatterError } from '../../kit/errors.ts';
import { escapeText } from '../../kit/text/escape-text.ts';
import type { CustodyRecord } from '../../ports/custody-log.ts';
import type { DeadLetter } from '../../ports/dead-letters.ts';
import type { Erased, Eraser } from '../../ports/eraser.ts';
import type { Ports } from '../../ports/index.ts';
import { decode } from '../../wire/codec.ts';
import type { Subjects } from '../../wire/subjects.ts';
import type { Entry, KeyValue } from '../kv/key-value.ts';
import { eraseAttachments } from './erase-attachments.ts';
import { eraseMemories, markGone, memoryReaches } from './erase-memories.ts';
import { readableCommits } from './readable-commits.ts';

/** What only the broker's own adapter can remove. Each method returns how much it has removed, and may be called again. */
export interface EraserStore {
  commits(key: SessionKey, before: number): Promise<number>;
  timers(key: SessionKey): Promise<number>;
  /** Removes commands up to this position, which are all done (I2). */
  commands(key: SessionKey, upTo: { seq: number; incarnation: number }): Promise<number>;
  /** Removes the session's records, but never the last record of the conversation. */
  custody(target: DeliveryTarget, belongs: (record: CustodyRecord) => boolean): Promise<number>;
  deadLetters(belongs: (letter: DeadLetter) => boolean): Promise<number>;
  /** Removes the entry so that it cannot be read on the disk either. */
  memory(entry: Entry): Promise<void>;
}
export interface EraserOptions extends Pick<Ports, 'events' | 'snapshots' | 'attachments'> {
  /** The bucket of long-term memory. */
  readonly memory: KeyValue;
  readonly clock: Clock;
  readonly subjects: Subjects;
  readonly store: EraserStore;
}

/**
 * Erases in an order that can be resumed: the history goes last, because it tells which conversations have delivery records. The
 * snapshot is replaced by the empty one of the erasure, which no older snapshot ever replaces.
 */
export const createEraser = ({ events, snapshots, attachments, memory, clock, subjects, store }: EraserOptions): Eraser => {
  /** Reads the history up to the erasure at `uptoSeq`. */
  const survey = async (key: SessionKey, uptoSeq: number): Promise<Survey> => {
    const targets = new Map<string, DeliveryTarget>();
    const added: string[] = [];
    const attached = new Set<string>();
    let remembers = false;
    for await (const commit of readableCommits({ events, clock }, key, { after: 0, through: uptoSeq })) {
      if (commit.seq >= uptoSeq)
        return { erasure: checked(commit, key, uptoSeq), targets: [...targets.values()], remembers, added, attached };
      for (const target of targetsOf(commit)) targets.set(subjects.deliveriesTo(target), target);
      remembers ||= commit.events.some(({ type }) => type === 'memory_changed');
      added.push(...memoryIdsOf(commit));
      for (const digest of attachedIn(commit)) attached.add(digest);
    }
    throw notAnErasure(key, uptoSeq);
  };

  return {
    erase: async (key, uptoSeq): Promise<Erased> => {
      const { erasure, targets, remembers, added, attached } = await survey(key, uptoSeq);
      let custody = 0;
      for (const target of targets) custody += await store.custody(target, (record) => record.key === key);
      const deadLetters = await store.deadLetters((letter) => isOf(letter, key));
      const timers = await store.timers(key);
      const { seq, incarnation } = erasure.command;
      const commands = seq === null || incarnation === null ? 0 : await store.commands(key, { seq, incarnation });
      await snapshots.put(key, toPlain(fold(initialState, erasure)));
      if (remembers) await memoryReaches(memory, clock, uptoSeq);
      await markGone(memory, added);
      const memories = await eraseMemories(memory, key, uptoSeq, store.memory);
      const files = await eraseAttachments({ events, attachments, clock }, erasure, attached);
      return { commits: await store.commits(key, uptoSeq), timers, commands, custody, deadLetters, memories, attachments: files };
    },
  };
};

/**
 * The erasure, the delivery targets in the history before it, whether that changed memories, and the ids of memories it added.
 */
interface Survey {
  readonly erasure: RecordedCommit;
  readonly targets: DeliveryTarget[];
  readonly remembers: boolean;
  readonly added: readonly string[];
  readonly attached: ReadonlySet<string>;
}

const checked = (commit: RecordedCommit, key: SessionKey, uptoSeq: number): RecordedCommit => {
  if (commit.seq === uptoSeq && isErasure(commit)) return commit;
  throw notAnErasure(key, uptoSeq);
};
const notAnErasure = (key: SessionKey, uptoSeq: number): NatterError =>
  new NatterError('invalid', `${uptoSeq} is not an erasure of ${key}; nothing was removed`, { field: 'uptoSeq' });

const targetsOf = ({ events }: RecordedCommit): DeliveryTarget[] =>
  events.flatMap((event) => {
    if (event.type === 'notice') return event.notice.deliverTo ?? [];
    return ('deliverTo' in event && event.deliverTo) || [];
  });

/** A letter belongs to the session that its message names, or if that is unreadable, to the one in its subject. */
const isOf = ({ subject, bytes }: DeadLetter, key: SessionKey): boolean => {
  try {
    const message = decode(bytes);
    if (typeof message === 'object' && message !== null && 'key' in message) return message.key === key;
  } catch {}
  return subject.split('.').at(-1) === escapeText(key);
};
