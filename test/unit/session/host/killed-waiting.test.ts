import { describe, expect, test } from 'vitest';
import type { SafetyToggles } from '../../../../services/session/turn/safety-toggles.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import type { Ports } from '../../../../shared/ports/index.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import type { Tools } from '../../../../shared/ports/tools.ts';
import { Process } from '../../../sim/world/process.ts';
import { command } from '../../../support/domain/given.ts';
import { fakeTools } from '../../../support/fake-tools.ts';
import { doomedPorts, type Moment } from '../doomed.ts';
import { homeKey, post, type Rig, rig } from '../rig.ts';
import { outcomeOf } from '../script.ts';

/** I6, I7, ADR 26: a host that dies around an approval, a compaction, or the wait for a program's results. Every command it was given comes again to the next one. */
interface Story {
  readonly model: (moment: Moment) => Model;
  readonly tools: (moment: Moment) => Tools;
  /** What is sent once this is all that has happened. */
  readonly send: (made: Rig) => CommandEnvelope | null;
  readonly settings?: object;
  readonly safetyToggles?: Partial<SafetyToggles>;
}

const told = async (doomAt: number, { model, tools, send, settings = {}, safetyToggles = {} }: Story) => {
  const process = new Process('doomed');
  let moments = 0;
  const moment: Moment = () => {
    if (++moments === doomAt) process.kill();
    return process.gate();
  };
  const made = rig({
    settings,
    safetyToggles,
    model: () => model(moment),
    tools: () => tools(moment),
    portsOf: doomedPorts(moment),
  });
  const sent: CommandEnvelope[] = [];
  const sendAll = async (lives: () => boolean): Promise<void> => {
    for (let next = send(made); next !== null && sent.length < 9 && lives(); next = send(made)) {
      sent.push(next);
      void made.take(next);
      await made.clock.pass(1_000);
    }
  };
  await sendAll(() => process.state === 'live');
  const killed = process.state === 'dead';
  const healthy: Moment = async () => {};
  made.restart({
    settings,
    safetyToggles,
    model: () => model(healthy),
    tools: () => tools(healthy),
    portsOf: (ports: Ports) => ports,
  });
  for (const again of sent) await made.take(again);
  await made.host.recover(homeKey);
  await made.clock.pass(1_000);
  await sendAll(() => true);
  return { events: made.events(), killed, moments };
};
const typesIn = (events: readonly SessionEvent[]): string[] => events.map(({ type }) => type);

describe('a host that dies around an approval (I6, I7)', async () => {
  const effects: string[] = [];
  const story: Story = {
    model: (moment) => ({
      name: 'script',
      windowTokens: 100_000,
      step: async ({ step }) => {
        await moment();
        return outcomeOf(step === 1 ? ['mail', 'put'] : 'done');
      },
    }),
    tools: (moment) => {
      const run = (name: string) => async (given: { callId: string }) => {
        await moment();
        effects.push(`${name} ${given.callId}`);
        await moment();
        return { outcome: 'ok', text: name } as const;
      };
      return fakeTools(
        { name: 'mail', idempotent: false, usual: 'ask', run: run('mail') },
        { name: 'put', usual: 'ask', run: run('put') },
      );
    },
    send: ({ events }) => {
      const last = events().at(-1);
      if (last === undefined) return post('go', 'm');
      if (last.type !== 'approval_requested') return null;
      const { approvalId, expiresAt, asks } = last;
      const verdict = asks === 'retry' ? 'denied' : 'granted';
      const data = { type: 'resolve_approval', approvalId, verdict, by: { id: 'o', role: 'owner' } } as const;
      return { ...command('stop', `answer-${approvalId}`), key: homeKey, at: expiresAt - 1, data };
    },
  };
  const { moments } = await told(0, story);

  test.each(Array.from({ length: moments }, (_, index) => index + 1))('moment %i: what was allowed runs once', async (doomAt) => {
    effects.length = 0;
    const { events, killed } = await told(doomAt, story);
    expect(killed).toBe(true);
    expect(effects.filter((effect) => effect === 'mail m.1.0').length).toBeLessThanOrEqual(1);
    expect(new Set(effects.filter((effect) => effect.startsWith('put')))).toEqual(new Set(['put m.1.1']));
    const results = events.flatMap((event) => (event.type === 'tool_result' ? [`${event.callId} ${event.outcome}`] : []));
    expect(results).toHaveLength(2);
    expect(['m.1.0 ok', 'm.1.0 unknown']).toContain(results[0]);
    expect(results[1]).toBe('m.1.1 ok');
    expect(typesIn(events).at(-1)).toBe('turn_completed');
  });
});

describe('a host that dies around a compaction (A7/85, A11/126)', async () => {
  const story: Story = {
    settings: { context: { reserveTokens: 500, keepTokens: 100 } },
    model: (moment) => ({
      name: 'forgetful',
      windowTokens: 2_000,
      step: async ({ purpose, messages }) => {
        await moment();
        const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
        const usage = { inputTokens, outputTokens: 0, totalTokens: inputTokens };
        return { kind: 'reply', text: purpose === 'compaction' ? 'in short' : 'yes', model: 'forgetful', usage };
      },
    }),
    tools: () => fakeTools(),
    send: ({ events }) => {
      const posted = events().filter(({ type }) => type === 'user_message').length;
      const resting = typesIn(events()).at(-1) === 'turn_completed';
      return posted < 3 && (posted === 0 || resting) ? post('word '.repeat(500), `m${posted}`) : null;
    },
  };
  const { moments } = await told(0, story);

  test.each(Array.from({ length: moments }, (_, index) => index + 1))(
    'moment %i: there is one summary, and the turns end',
    async (doomAt) => {
      const { events, killed } = await told(doomAt, story);
      expect(killed).toBe(true);
      expect(typesIn(events).filter((type) => type === 'context_compacted')).toHaveLength(1);
      expect(typesIn(events).filter((type) => type === 'turn_completed')).toHaveLength(3);
      expect(typesIn(events)).not.toContain('turn_failed');
    },
  );
});

describe("a host that dies around the wait for a program's results (ADR 26)", async () => {
  const effects: string[] = [];
  const client = { tools: [{ name: 'get_weather', parameters: '{"type":"object"}' }] };
  const story: Story = {
    model: (moment) => ({
      name: 'script',
      windowTokens: 100_000,
      step: async ({ step, messages }) => {
        await moment();
        if (step === 1) return outcomeOf(['put', 'get_weather']);
        return outcomeOf(messages.flatMap((message) => (message.role === 'tool' ? [message.text] : [])).join(' and '));
      },
    }),
    tools: (moment) =>
      fakeTools({
        name: 'put',
        run: async ({ callId }) => {
          await moment();
          effects.push(callId);
          return { outcome: 'ok', text: 'stored' } as const;
        },
      }),
    send: ({ events }) => {
      const all = events();
      const awaited = all.findLast(({ type }) => type === 'client_results_awaited');
      if (all.length === 0) return withTools(post('go', 'm'));
      if (awaited?.type !== 'client_results_awaited' || typesIn(all).includes('client_results_received')) return null;
      const results = awaited.calls.map((callId) => ({ callId, outcome: 'ok' as const, text: 'warm' }));
      const data = { type: 'give_results', results, by: { id: 'ann', role: 'owner' } } as const;
      return { ...command('stop', 'results'), key: homeKey, at: awaited.expiresAt - 1, data };
    },
  };
  const withTools = (envelope: CommandEnvelope): CommandEnvelope =>
    envelope.data.type === 'post_message'
      ? { ...envelope, data: { ...envelope.data, message: { ...envelope.data.message, client } } }
      : envelope;
  const { moments } = await told(0, story);

  test.each(Array.from({ length: moments }, (_, index) => index + 1))('moment %i: it is answered once', async (doomAt) => {
    effects.length = 0;
    const { events, killed } = await told(doomAt, story);
    expect(killed).toBe(true);
    expect(new Set(effects)).toEqual(new Set(['m.1.0']));
    const results = events.flatMap((event) => (event.type === 'tool_result' ? [`${event.callId} ${event.outcome}`] : []));
    expect(results).toEqual(['m.1.0 ok', 'm.1.1 ok']);
    expect(typesIn(events).filter((type) => type === 'client_results_received')).toHaveLength(1);
    expect(events.flatMap((event) => (event.type === 'assistant_message' ? [event.text] : []))).toEqual(['stored and warm']);
    expect(typesIn(events).at(-1)).toBe('turn_completed');
  });

  test('a wait that only its process knows is lost with it', async () => {
    const { events } = await told(moments, { ...story, safetyToggles: { recordedWaits: false } });
    expect(typesIn(events)).toContain('tool_result');
    expect(typesIn(events)).not.toContain('assistant_message');
  });
});
