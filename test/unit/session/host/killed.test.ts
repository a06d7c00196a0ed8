import { describe, expect, test } from 'vitest';
import type { Model } from '../../../../shared/ports/model.ts';
import type { Tools } from '../../../../shared/ports/tools.ts';
import { Process } from '../../../sim/world/process.ts';
import { command } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { doomedPorts, type Moment } from '../doomed.ts';
import { homeKey, post, rig } from '../rig.ts';
import { outcomeOf, rowsOf } from '../script.ts';

/**
 * I6: the host dies at one moment of a turn: before or after a durable write, a step of the model, an effect of a tool. Another host goes on. What
 * was asked about is answered.
 */
const lines = [['charge', 'put', 'look'], ['put'], ['look'], 'all done'] as const;
const scripted = (moment: Moment): Model => ({
  name: 'script',
  windowTokens: 100_000,
  step: async ({ step }) => {
    await moment();
    await moment();
    return outcomeOf(lines[step - 1] ?? 'nothing');
  },
});
const effects: string[] = [];
const toolsOf = (moment: Moment): Tools => {
  const run = (name: string) => async (given: { callId: string }) => {
    await moment();
    effects.push(`${name} ${given.callId}`);
    await moment();
    return { outcome: 'ok', text: name } as const;
  };
  return fakeTools(
    { name: 'charge', idempotent: false, run: run('charge') },
    { name: 'put', run: run('put') },
    { name: 'look', readsOnly: true, run: run('look') },
  );
};
const healthy = async (): Promise<void> => {};

/** A turn whose host dies at the moment `doomAt` (from 1), and what came of it; `verdict`: what is said to a question. */
const killedAt = async (doomAt: number, verdict: 'granted' | 'denied') => {
  effects.length = 0;
  const process = new Process('doomed');
  let moments = 0;
  const moment = (): Promise<void> => {
    if (++moments === doomAt) process.kill();
    return process.gate();
  };
  const made = rig({ model: () => scripted(moment), tools: () => toolsOf(moment), portsOf: doomedPorts(moment) });
  const message = post('go', 'm');
  void made.take(message);
  await made.clock.pass(1_000);
  const killed = process.state === 'dead';
  // The command was not acknowledged, or it was: it comes again in any case.
  made.restart({ model: () => scripted(healthy), tools: () => toolsOf(healthy), portsOf: (ports) => ports });
  await made.take(message);
  await made.host.recover(homeKey);
  await made.clock.pass(1_000);
  for (let asked = 0; asked < 3; asked++) {
    const last = made.events().at(-1);
    if (last?.type !== 'approval_requested') break;
    const data = { type: 'resolve_approval', approvalId: last.approvalId, verdict, by: { id: 'o', role: 'owner' } } as const;
    await made.take({ ...command('stop', `answer-${asked}`), key: homeKey, at: last.expiresAt - 1, data });
    await made.clock.pass(1_000);
  }
  return { killed, effects: [...effects], events: made.events(), moments };
};

describe('a host that dies at any moment of a turn with tools (I6)', async () => {
  const { moments, effects: undisturbed } = await killedAt(0, 'denied');

  test('eight commits, four steps and five effects have a moment before and one after', () => {
    expect(moments).toBe(34);
    expect([...undisturbed].sort()).toEqual(['charge m.1.0', 'look m.1.2', 'look m.3.0', 'put m.1.1', 'put m.2.0']);
  });

  const moment = Array.from({ length: moments }, (_, index) => index + 1);
  test.each(moment)('moment %i: nothing that cannot be repeated is repeated, and the turn ends', async (doomAt) => {
    const { killed, effects: done, events } = await killedAt(doomAt, 'denied');
    expect(killed).toBe(true);
    const count = (what: string): number => done.filter((effect) => effect === what).length;
    expect(count('charge m.1.0')).toBeLessThanOrEqual(1);
    expect(new Set(done.filter((effect) => effect.startsWith('put')))).toEqual(new Set(['put m.1.1', 'put m.2.0']));
    expect(new Set(done.filter((effect) => effect.startsWith('look')))).toEqual(new Set(['look m.1.2', 'look m.3.0']));
    const results = events.flatMap((event) => (event.type === 'tool_result' ? [`${event.callId} ${event.outcome}`] : []));
    expect(results.filter((result) => !result.startsWith('m.1.0')).sort()).toEqual([
      'm.1.1 ok',
      'm.1.2 ok',
      'm.2.0 ok',
      'm.3.0 ok',
    ]);
    // The result of the charge is what happened, or unknown.
    const charged = results.filter((result) => result.startsWith('m.1.0'));
    expect(charged).toHaveLength(1);
    if (charged[0] === 'm.1.0 ok') expect(count('charge m.1.0')).toBe(1);
    else expect(charged).toEqual(['m.1.0 unknown']);
    expect(rowsOf(events).filter((row) => /^(assistant_message|turn_completed)/.test(row))).toHaveLength(2);
  });

  test('what a person wants to have repeated is repeated, under the same key', async () => {
    const counts = new Set<number>();
    for (const doomAt of moment) {
      const { effects: done, events } = await killedAt(doomAt, 'granted');
      counts.add(done.filter((effect) => effect === 'charge m.1.0').length);
      expect(events.at(-1)?.type).toBe('turn_completed');
      expect(events).toContainEqual(expect.objectContaining({ type: 'tool_result', callId: 'm.1.0', outcome: 'ok' }));
    }
    expect([...counts].sort()).toEqual([1, 2]);
  });
});
