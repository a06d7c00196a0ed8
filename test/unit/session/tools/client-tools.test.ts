import { describe, expect, test } from 'vitest';
import { loadState } from '../../../../services/session/host/load.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import type { ClientRequest } from '../../../../shared/domain/values/client-request.ts';
import { command } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, post, type Rig, type RigOptions, rig } from '../rig.ts';
import { heardIn, type Line, rowsOf, script } from '../script.ts';

/** ADR 26: tools that a program brings along, in a host. */

const find = { name: 'find', description: 'Finds things.', parameters: '{"type":"object"}' };
const asking = (client: ClientRequest): CommandEnvelope => {
  const said = post('go', 'm');
  if (said.data.type !== 'post_message') throw new Error('a message');
  return { ...said, data: { ...said.data, message: { ...said.data.message, client } } };
};
const giving = (...callIds: string[]): CommandEnvelope => ({
  ...command('stop', `give-${callIds.join()}`),
  key: homeKey,
  data: {
    type: 'give_results',
    by: { id: 'api', role: 'program' },
    results: callIds.map((callId) => ({ callId, outcome: 'ok', text: `result of ${callId}` })),
  },
});
const told = async (lines: readonly Line[], client: ClientRequest = { tools: [find] }, options: RigOptions = {}) => {
  const tools = fakeTools({ name: 'put' }, { name: 'mail', idempotent: false, usual: 'ask' });
  const model = script(lines);
  const made = rig({ model: () => model, tools: () => tools, ...options });
  await made.take(asking(client));
  await made.clock.pass(10);
  return { made, tools, model, rows: () => rowsOf(made.events()) };
};
const status = async ({ ports }: Rig) => (await loadState(ports, homeKey)).machine.value;
const restarted = async (made: Rig): Promise<void> => {
  made.host.close();
  made.restart();
  await made.host.recover(homeKey);
  await made.clock.pass(10);
};

describe("calls of the program's tools", () => {
  test('wait with nothing in memory, in one commit with their step; results continue the turn after every host was restarted', async () => {
    const { made, model, rows } = await told([['find', 'find'], 'found']);
    expect(rows().slice(0, 4)).toEqual([
      'model_step m/1 1 continue',
      ...['tool_call_started m/1 m.1.0 #1', 'tool_call_started m/1 m.1.1 #1', 'client_results_awaited m/1 m.1.0 m.1.1'],
    ]);
    expect(made.system.events.stored()).toHaveLength(2);
    expect([made.host.turns.running, await status(made)]).toEqual([0, 'awaiting_results']);
    await restarted(made);
    expect(await status(made)).toBe('awaiting_results');
    await made.take(giving('m.1.0', 'm.1.1'));
    await made.clock.pass(10);
    expect(heardIn(model.requests.at(-1) as never)).toBe('go [find find] m.1.0=ok m.1.1=ok');
    expect(made.events().at(-1)?.type).toBe('turn_completed');
    // The same command comes again, and so does another with the same results.
    await made.take(giving('m.1.0', 'm.1.1'));
    await made.take({ ...giving('m.1.0', 'm.1.1'), id: 'again' });
    expect(made.events().filter(({ type }) => type === 'tool_result')).toHaveLength(2);
  });

  test('come after those that run here, and after what a person must allow', async () => {
    const { made, tools, rows } = await told([['find', 'put', 'mail'], 'found']);
    expect(rows().slice(-2)).toEqual(['tool_result m/1 m.1.1 ok', 'approval_requested m/1 approval-3']);
    const by = { id: 'olga', role: 'owner' } as const;
    await made.take({
      ...command('stop', 'answer'),
      key: homeKey,
      at: 1_790_000_000_050,
      data: { type: 'resolve_approval', approvalId: 'approval-3', verdict: 'granted', by },
    });
    await made.clock.pass(10);
    expect(tools.effects).toEqual(['put m.1.1', 'mail m.1.2']);
    expect(rows().at(-1)).toBe('client_results_awaited m/2 m.1.0');
    await made.take(giving('m.1.0'));
    await made.clock.pass(10);
    expect(made.events().at(-1)?.type).toBe('turn_completed');
  });

  test('whose results never come: the sweep ends the turn at its deadline, and what waits behind it runs', async () => {
    const { made } = await told([['find'], 'too late'], undefined, { settings: { tools: { clientResultMinutes: 1 } } });
    await made.host.expireResults(homeKey, 'm');
    expect(await status(made)).toBe('awaiting_results');
    await made.clock.pass(60_001);
    await restarted(made);
    await made.host.expireResults(homeKey, 'm');
    await made.host.expireResults(homeKey, 'm');
    expect(rowsOf(made.events()).at(-1)).toBe('turn_aborted m/1 the program gave no results of its tools in time');
  });
});

describe('what the model is given', () => {
  const offered = async (client: ClientRequest, lines: readonly Line[] = ['done']) => {
    const { made, model } = await told(lines, client);
    const { requests } = model;
    return { made, asked: requests.map(({ tools, settings }) => ({ names: tools.map(({ name }) => name), settings })) };
  };

  test.each<[string, ClientRequest, string[], object]>([
    ['both kinds of tools', { tools: [find] }, ['put', 'mail', 'find'], {}],
    [
      "only the program's, when it wants one called",
      { tools: [find], toolChoice: 'required' },
      ['find'],
      { toolChoice: 'required' },
    ],
    ['the one that it names', { tools: [find], toolChoice: { tool: 'find' } }, ['find'], { toolChoice: { tool: 'find' } }],
    ["none of the program's, when it wants none", { tools: [find], toolChoice: 'none' }, ['put', 'mail'], {}],
    ['its settings', { temperature: 0, stop: ['.'] }, ['put', 'mail'], { temperature: 0, stop: ['.'] }],
  ])('%s', async (_, client, names, settings) => {
    expect((await offered(client)).asked).toEqual([{ names, settings }]);
  });

  test('a choice is for the first step after the program asked, or an own tool would be called to no end', async () => {
    const { asked } = await offered({ tools: [find], toolChoice: 'none' }, [['put'], 'done']);
    expect(asked.map(({ names }) => names)).toEqual([
      ['put', 'mail'],
      ['put', 'mail', 'find'],
    ]);
  });

  test('results without settings keep its tools, and force no call again', async () => {
    const { made, model } = await told([['find'], 'found'], { tools: [find], toolChoice: 'required', temperature: 0 });
    await made.take(giving('m.1.0'));
    await made.clock.pass(10);
    expect(model.requests.map(({ settings }) => settings)).toEqual([
      { toolChoice: 'required', temperature: 0 },
      { temperature: 0 },
    ]);
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['put', 'mail', 'find']);
  });

  test('a name that a tool here has already ends the turn before the model is asked', async () => {
    const { made, asked } = await offered({ tools: [{ ...find, name: 'put' }] });
    expect([asked, made.events().at(-1)]).toMatchObject([[], { type: 'turn_failed', code: 'tool_name_taken' }]);
  });
});
