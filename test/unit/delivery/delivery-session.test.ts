import { describe, expect, test } from 'vitest';
import { createErasures } from '../../../services/delivery/erasures.ts';
import { sessionOutlet } from '../../../services/delivery/outlets/session.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { messageOf } from '../../../shared/domain/session/commands.ts';
import { type CommandEnvelope, commandEnvelope, type RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import { encodeCommand } from '../../../shared/wire/codec.ts';

const child = 'agent:main:subagent:1' as SessionKey;
const parent = 'agent:main:main';
const result: Outbound = {
  ...{ id: '7.0', seq: 7, key: child, kind: 'assistant_message', text: 'done', turnId: 't1' },
  target: { channel: 'session', to: parent, threadId: 'run-1', accountId: '2' },
};
const sent = async (change: Partial<Outbound> = {}) => {
  const commands: CommandEnvelope[] = [];
  const cancelled: string[] = [];
  const outlet = sessionOutlet({
    config: () => configSchema.parse({}),
    clock: { now: () => 1_790_000_000_000 },
    commands: {
      publish: async (command) => ({ seq: commands.push(command), duplicate: false }),
      cancel: async (key, name) => void cancelled.push(`${name} of ${key}`),
    },
  });
  const outcome = await outlet.send({ ...result, ...change }, new AbortController().signal);
  return { outcome, commands, cancelled };
};

describe('the way between sessions', () => {
  test.each<[string, Partial<Outbound>, object, string[]]>([
    [
      'an answer is a message that begins a turn and ends the run (A13/138)',
      {},
      {
        type: 'post_message',
        message: {
          text: "[The sub-agent's run run-1 has ended.]\ndone",
          answers: 'run-1',
          sender: { id: child, role: 'program' },
        },
      },
      [`deadline of ${child}`],
    ],
    [
      'silence only ends the run (A6/78)',
      { text: '' },
      { type: 'append_message', message: { answers: 'run-1' } },
      [`deadline of ${child}`],
    ],
    [
      'what is said before the end is only remembered',
      { target: { channel: 'session', to: parent, accountId: '2' } },
      { type: 'append_message', message: { text: `[The sub-agent ${child} goes on.]\ndone` } },
      [],
    ],
    [
      'what a person is to be told goes on to them (A5/62)',
      { kind: 'notice' },
      { type: 'post_notice', toRoute: true, notice: { code: 'spawned_run', text: 'done' } },
      [],
    ],
    [
      'a run that is to end is stopped (A11/125)',
      { kind: 'stop', text: '/stop' },
      { type: 'stop', reason: '/stop' },
      [`deadline of ${parent}`],
    ],
  ])('%s', async (_, change, data, timers) => {
    const { outcome, commands, cancelled } = await sent(change);
    expect(outcome).toEqual({ kind: 'sent' });
    expect(commands).toMatchObject([{ key: parent, actor: 'delivery', causationId: '7.0', ifGeneration: 2, data }]);
    expect(commandEnvelope.safeParse(commands[0]).success).toBe(true);
    expect(cancelled).toEqual(timers);
    expect(commands[0] && messageOf(commands[0].data)?.deliverTo).toBeUndefined();
  });

  test('I9: the same outbound is the same command, another one another', async () => {
    const idOf = async (change?: Partial<Outbound>) => (await sent(change)).commands[0]?.id;
    expect(await idOf()).toBe(await idOf());
    expect(await idOf()).not.toBe(await idOf({ id: '7.1' }));
  });
  test('C9: without a generation it is for whoever has the key', async () => {
    const { commands } = await sent({ target: { channel: 'session', to: parent, threadId: 'run-1' } });
    expect(commands[0]).not.toHaveProperty('ifGeneration');
  });
  test('I11: an answer of any length fits into one command, cut at a whole character', async () => {
    const { commands } = await sent({ text: '€'.repeat(limits.modelOutputBytes / 3) });
    const [command] = commands;
    if (command === undefined) throw new Error('nothing was sent');
    expect(encodeCommand(command).length).toBeLessThanOrEqual(limits.commandBytes);
    expect(messageOf(command.data)?.text).toMatch(/\n€+\n\[The rest is left out; read its session\.\]$/);
    expect(commandEnvelope.safeParse(command).success).toBe(true);
  });
  test('what names no session fails and is not tried again', async () => {
    const { outcome, commands } = await sent({ target: { channel: 'session', to: 'no session *' } });
    expect([outcome.kind, commands]).toEqual(['refused', []]);
  });
});

describe('an erasure', () => {
  test.each<[string, Partial<Outbound>, object]>([
    ['a result loses its text, and that the run has ended is told', {}, { text: '' }],
    ['a question is not asked', { kind: 'notice' }, { text: '', suppressedReason: 'its session was erased' }],
    ['a run that is to end ends', { kind: 'stop' }, { text: 'done' }],
    [
      'an answer to a person is suppressed',
      { target: { channel: 'irc', to: 'ann' } },
      { text: '', suppressedReason: 'its session was erased' },
    ],
  ])('C9: %s', (_, change, expected) => {
    const erasures = createErasures();
    const erasure = { key: child, seq: 9, events: [{ type: 'session_deleted', mode: 'erased' }] };
    erasures.note(erasure as unknown as RecordedCommit);
    const outbound = { ...result, ...change };
    expect(erasures.revised(outbound)).toEqual({ ...outbound, ...expected });
    expect(erasures.revised({ ...outbound, seq: 10 })).toEqual({ ...outbound, seq: 10 });
  });
});
