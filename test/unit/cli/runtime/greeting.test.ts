import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { greeting, type Started } from '../../../../services/cli/runtime/greeting.ts';
import { loadConfig } from '../../../../shared/runtime/config/load.ts';

const url = 'http://127.0.0.1:4600';
const address = `${url}/#code=natter_${'x'.repeat(43)}`;
const started: Started = {
  config: loadConfig({ env: {}, home: '/ann' }),
  ...{ url, hosts: [], chatting: true, page: { address, expiresAt: 0, role: 'owner' } },
};
const onTerminal = (columns: number, given: Partial<Started> = {}, env = {}): string[] =>
  greeting(env, { ...started, ...given }, columns).map(stripVTControlCharacters);

describe('what natter up prints', () => {
  test('says on a terminal what runs, where the page, the data and the log are, and how to leave', () => {
    expect(onTerminal(100)).toEqual([
      `natter is up  ${url}`,
      `  page   ${address}`,
      '         (works once, within 60 seconds; later: natter open)',
      '  model  offline (repeats what you say; for a real one: natter init)',
      '  data   /ann/.natter (log: natter.log, token: gateway.json)',
      'Write below. Ctrl-C stops an answer, /help lists the commands, /quit stops everything.',
    ]);
  });

  test.each([40, 60, 80, 100])('breaks in %i columns between words alone, and leaves a link whole', (columns) => {
    const rows = onTerminal(columns);
    expect(rows.join(' ').split(/\s+/)).toEqual(onTerminal(1_000).join(' ').split(/\s+/));
    for (const row of rows) if (row.trim().includes(' ')) expect(row.length).toBeLessThanOrEqual(columns);
  });

  test('names the hosts that are processes, and without a chat a command to try', () => {
    expect(
      onTerminal(Number.POSITIVE_INFINITY, { hosts: [11, 12], chatting: false, page: null }, { npm_lifecycle_event: 'npx' }),
    ).toEqual([
      `natter is up  ${url}`,
      '  model  offline (repeats what you say; for a real one: npx natter init)',
      '  hosts  11, 12 (process ids; kill -9 one, and nothing is lost)',
      '  data   /ann/.natter (token: gateway.json)',
      '  try    npx natter send agent:main:main "hello" --wait',
      'Ctrl-C to stop.',
    ]);
  });
});
