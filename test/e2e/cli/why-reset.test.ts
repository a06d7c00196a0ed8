import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { whyResetCommand } from '../../../services/cli/commands/sessions/why-reset.ts';
import type { IndexRow } from '../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { unrecorded } from '../../support/domain/commits.ts';
import { key, tell } from '../../support/domain/given.ts';
import { natterWith } from '../../support/natter.ts';
import { callerOf, pathOf, startWorld, token } from '../gateway/setup.ts';

const home = mkdtempSync(join(tmpdir(), 'natter-why-reset-'));
/** What is configured where the command runs is not what the gateway goes by (A1/1, 2). */
beforeAll(() => writeFileSync(join(home, 'natter.json'), '{ session: { timeZone: "Asia/Kolkata", reset: { idleMinutes: 5 } } }'));
afterAll(() => rmSync(home, { recursive: true }));

const at = (time: string): number => Date.parse(time);
const boundary = at('2026-03-29T02:00:00Z');
/** Silence at noon, over the night of the clock change, and somebody who wants to begin anew. */
const history = [
  `append m1 @${at('2026-03-28T10:00:00Z')}`,
  `post-under m2 s2 idle 90 @${at('2026-03-28T12:00:00Z')}`,
  `reply m2/1 1 @${at('2026-03-28T12:00:01Z')}`,
  `post-under m3 s3 daily ${boundary} @${at('2026-03-29T08:00:00Z')}`,
  `reply m3/1 1 @${at('2026-03-29T08:00:01Z')}`,
  `reset s4 @${at('2026-03-29T09:00:00Z')}`,
] as const;

let url = '';
let now = 0;
const clock = { ...systemClock, now: () => now };
/** A gateway with these commits in its log. */
const recording = async (...rows: readonly string[]): Promise<void> => {
  const { gateway, ports, memory } = await startWorld({
    clock,
    session: { timeZone: 'Europe/Berlin', reset: { idleMinutes: 90 } },
  });
  const { events, index } = memory.portsFor('host');
  let row: IndexRow | null = null;
  for (const commit of tell(...rows).commits) {
    const result = await events.append(unrecorded(commit), row?.seq ?? 0);
    if (result.kind !== 'stored') throw new Error(result.kind);
    row = summarize(row, { ...commit, seq: result.seq });
  }
  if (row) await index.put([row], row.seq);
  expect(await ports.index.get(key)).toEqual(row);
  url = gateway.url;
};

const natter = (time: string, ...words: string[]): Promise<string> => {
  now = at(time);
  return natterWith([whyResetCommand], { home })('--url', url, '--token', token, 'why-reset', ...words);
};

describe('natter why-reset', () => {
  beforeEach(() => recording(...history));

  test('A4/45–47, 53: each reset with its rule, its boundary and the last update, in local time', async () => {
    const lines = (await natter('2026-03-29T09:30:00Z', key)).trim().split('\n');
    expect(lines).toEqual([
      key,
      expect.stringMatching(
        /^2026-03-28T13:00:00\+01:00 +seq \d+ +generation 2: the end of the idle window of 2026-03-28T12:30:00\+01:00 \(session\.reset\), last used 2026-03-28T11:00:00\+01:00$/,
      ),
      expect.stringMatching(
        /generation 3: the daily reset of 2026-03-29T04:00:00\+02:00 \(session\.reset\), last used 2026-03-28T13:00:01\+01:00$/,
      ),
      expect.stringMatching(/generation 4: test wrote \/new, last used 2026-03-29T10:00:01\+02:00$/),
      'next: with the first message after 2026-03-30T04:00:00+02:00 (daily) or 2026-03-29T12:30:00+02:00 (idle); session.reset',
    ]);
  });

  test('A4/45: with --utc all times are in UTC', async () => {
    const text = await natter('2026-03-29T09:30:00Z', key, '--utc');
    expect(text).toMatch(/2026-03-28T12:00:00Z +seq \d+ +generation 2: the end of the idle window of 2026-03-28T11:30:00Z/);
    expect(text).not.toContain('+0');
  });

  test('A4/43: a reset that is due waits for a message', async () => {
    expect(await natter('2026-03-29T10:30:01Z', key)).toContain('next: due with the next message, since');
  });

  test('A4/45: as JSON', async () => {
    const { resets, next, timeZone } = JSON.parse(await natter('2026-03-29T09:30:00Z', key, '--json'));
    expect(timeZone).toBe('Europe/Berlin');
    expect(
      resets.map(({ generation, sessionId, previousSessionId }: Record<string, unknown>) => [
        generation,
        previousSessionId,
        sessionId,
      ]),
    ).toEqual([
      [2, 's1', 's2'],
      [3, 's2', 's3'],
      [4, 's3', 's4'],
    ]);
    expect(resets[1].cause).toEqual({
      trigger: 'daily',
      rule: 'session.reset',
      boundaryAt: boundary,
      lastUpdateAt: at('2026-03-28T12:00:01Z'),
    });
    expect(next).toEqual({
      rule: 'session.reset',
      dailyAt: at('2026-03-30T02:00:00Z'),
      idleAt: at('2026-03-29T10:30:00Z'),
      due: false,
    });
  });

  test('A1/1, A4/43: the next reset is the one the gateway tells', async () => {
    const { next, timeZone } = JSON.parse(await natter('2026-03-29T09:30:00Z', key, '--json'));
    const { body } = await callerOf(url)('GET', pathOf(key));
    expect(body.nextReset).toEqual({ ...next, timeZone });
  });
});

test('A4/43: a session that was never reset says so', async () => {
  await recording(`append m1 @${at('2026-03-28T10:00:00Z')}`);
  expect(await natter('2026-03-28T10:01:00Z', key)).toContain('never reset\nnext: with the first message after');
});

test('A8/90: of a session that is not there the gateway says so', async () => {
  await recording();
  await expect(natter('2026-03-28T10:01:00Z', 'agent:main:other')).rejects.toMatchObject({ code: 'not_found' });
});
