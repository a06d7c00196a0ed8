import pc from 'picocolors';
import type { Config } from '../../../shared/runtime/config/load.ts';
import { mainSessionKey } from '../access.ts';
import { callerOf } from '../init/caller.ts';
import { namedModel } from '../init/named-model.ts';
import type { PageLink } from '../page/link.ts';
import type { World } from '../terminal.ts';
import { widthOf } from '../text/text-width.ts';

export interface Started {
  readonly config: Config;
  /** The address of the gateway. */
  readonly url: string;
  /** The process ids of the session hosts, if they are processes of their own. */
  readonly hosts: readonly number[];
  readonly chatting: boolean;
  readonly page: PageLink | null;
}

/**
 * What `natter up` prints once it is up, in rows of at most `columns`: what runs, where its page and its data are, and how to leave. No token: it
 * would stay on the screen, or in a log.
 */
export const greeting = (env: World['env'], started: Started, columns: number): string[] => {
  const { config, url, hosts, chatting, page } = started;
  const natter = callerOf(env);
  const model = config.agent.model === 'offline' ? ` (repeats what you say; for a real one: ${natter} init)` : '';
  const files = `${chatting ? 'log: natter.log, ' : ''}token: gateway.json`;
  const last = chatting
    ? 'Write below. Ctrl-C stops an answer, /help lists the commands, /quit stops everything.'
    : 'Ctrl-C to stop.';
  const rows: readonly (readonly [name: string, text: string] | null)[] = [
    page && ['page', pc.cyan(page.address)],
    page && ['', `(works once, within 60 seconds; later: ${natter} open)`],
    ['model', `${namedModel(config)}${model}`],
    hosts.length > 0 ? ['hosts', `${hosts.join(', ')} (process ids; kill -9 one, and nothing is lost)`] : null,
    ['data', `${config.dataDir} (${files})`],
    chatting ? null : ['try', `${natter} send ${mainSessionKey(config)} "hello" --wait`],
  ];
  return [
    `${pc.bold('natter is up')}  ${pc.cyan(url)}`,
    ...rows.flatMap((row) => (row === null ? [] : rowsOf(`  ${row[0].padEnd(6)} `, row[1], columns))),
    ...rowsOf('', last, columns),
  ];
};

/** Breaks between words. One that fits beside no name, such as a link, begins a row, so that it stays whole as long as it can. */
const rowsOf = (name: string, text: string, columns: number): string[] => {
  const rows = [name];
  for (const word of text.split(' ')) {
    const row = rows.at(-1) ?? '';
    const joined = row === '' || row.endsWith(' ') ? row + word : `${row} ${word}`;
    if (widthOf(joined) <= columns) rows[rows.length - 1] = joined;
    else rows.push(name.length + widthOf(word) <= columns ? ' '.repeat(name.length) + word : word);
  }
  return rows.map((row) => row.trimEnd());
};
