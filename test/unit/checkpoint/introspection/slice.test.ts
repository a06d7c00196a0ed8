import { describe, expect, test } from 'vitest';
import { requestsOf } from '../../../../services/checkpoint/introspection/dispatch.ts';
import { readNextSlice } from '../../../../services/checkpoint/introspection/slice.ts';
import type { EventLog } from '../../../../shared/ports/event-log.ts';
import { command, given, tell } from '../../../support/domain/given.ts';
import { logOf } from '../../domain/context/rows.ts';

const portsOf = (...story: Parameters<typeof tell>) => {
  const { commits } = tell(...story);
  const log = logOf(commits);
  const events = { ...log.events, last: async () => commits.at(-1) ?? null } as unknown as EventLog;
  return { requests: commits.flatMap(requestsOf), ports: { events, clock: log.clock } };
};

describe('what is introspected next', () => {
  test.each([
    [[], '1-6'],
    [['introspect 1 3'], '4-6'],
    [['introspect-failed 1 3'], '1-3'],
    [['introspect 1 2', 'introspect-failed 4 5'], '3-3'],
    [['introspect 1 3', 'introspect-failed 4 5'], '4-5'],
    [['introspect-failed 1 3', 'introspect 4 5'], '1-3'],
    [['introspect-failed 1 3', 'introspect 4 5', 'introspect 1 3'], '6-6'],
    [['introspect-failed 1 3', 'introspect 4 5', 'introspect 2 2'], '1-1'],
    [['introspect-failed 1 3', 'introspect 4 5', 'introspect 2 2', 'introspect 1 1'], '3-3'],
    [['introspect-failed 1 3', 'introspect 4 6', 'introspect 1 3'], 'nothing'],
  ])(
    'A7/84: what was done meanwhile is left out, in whatever order, and what failed is for itself: after %j %s is left',
    async (done, left) => {
      const said = ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'post m3', 'reply m3/1 1', 'checkpoint'];
      const { ports, requests } = portsOf(...said, ...done);
      const past = requests[0] && (await readNextSlice(ports, requests[0], 10_000));
      expect(past ? `${past.fromRev}-${past.toRev}` : 'nothing').toBe(left);
    },
  );

  test('a long log is read in pieces, between which callers of the same process get their turn', async () => {
    const said = [...Array(20).keys()].flatMap((turn) => [`post m${turn}`, `reply m${turn}/1 1`]);
    const { ports, requests } = portsOf(...said, 'checkpoint');
    let pauses = 0;
    const sleep = async (): Promise<void> => {
      pauses += 1;
    };
    const clock = { ...ports.clock, sleep };
    if (requests[0]) await readNextSlice({ ...ports, clock }, requests[0], 10_000);
    expect(pauses, 'of 41 commits').toBe(2);
  });

  test('A7/84, C10: the commit in which a turn that waited renews the session is covered with the old generation, and not again', async () => {
    const renewed = ['post m1', 'post-stale m2 followup', 'reply m1/1 1', 'reply m2/1 1', 'checkpoint'];
    const old = command('introspect 1 3');
    const { ports, requests } = portsOf(...renewed, old);
    const [, ours] = requests;
    expect(ours).toMatchObject({ sessionId: 'of-m2', fromRev: 3, toRev: 4 });
    const past = ours && (await readNextSlice(ports, ours, 10_000));
    expect(past).toMatchObject({ fromRev: 4, toRev: 4, entries: [{ role: 'assistant', text: 'step 1 of m2/1' }] });
    given(...renewed, old)
      .when(`introspect ${past?.fromRev} ${past?.toRev} of-m2`)
      .then('introspected manual of-m2 4-4', 'memory_changed introspection add');
  });
});
