import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { recoverLostTurns } from '../../../../services/session/host/recovery.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { command } from '../../../support/domain/given.ts';
import { type FakeTool, fakeTools } from '../../../support/fake-tools.ts';
import { homeKey, type Rig, rig } from '../rig.ts';
import { type Line, rowsOf, script } from '../script.ts';

const olga: Sender = { id: 'olga', role: 'owner', principal: 'olga' };
const bob: Sender = { id: '8', role: 'participant', principal: 'bob' };
const eve: Sender = { id: '9', role: 'participant', principal: 'eve' };
const job: Sender = { id: 'job', role: 'program' };
const bobsJob: Sender = { ...job, onBehalfOf: 'participant' };
const nobody: Sender = { id: 'x' };

const says = (id: string, sender: Sender, mode?: string): CommandEnvelope => ({
  ...command('stop', id),
  key: homeKey,
  data: {
    type: 'post_message',
    sessionId: 's1',
    message: { messageId: id, text: id, sender },
    ...(mode && { queue: { mode } }),
  } as never,
});
const has = (...names: string[]) => names.map((name): FakeTool => ({ name }));
/** What a host may have: Natter's own tools and a server's. */
const everyTool = has(
  'exec',
  'fs__read',
  'list_files',
  'memory_add',
  'read_file',
  'sessions_send',
  'sessions_spawn',
  'write_file',
);

const begin = (lines: readonly Line[], rules: readonly object[], tools: readonly FakeTool[], settings: object = {}) => {
  const model = script(lines);
  const made_ = fakeTools(...tools);
  const made: Rig = rig({ model: () => model, tools: () => made_, settings: { ...settings, tools: { rules } } as never });
  const take = async (...taken: readonly CommandEnvelope[]): Promise<void> => {
    for (const envelope of taken) await made.take(envelope);
    await made.clock.pass(10);
  };
  const offered = (request = -1): string =>
    model.requests
      .at(request)
      ?.tools.map(({ name }) => name)
      .join(' ') ?? 'nobody was asked';
  return { made, model, effects: made_.effects, take, offered, rows: () => rowsOf(made.events()) };
};

describe('A5/62: the tools that a model is offered, by whom the turn answers (ADR 22)', () => {
  const all = everyTool.map(({ name }) => name).join(' ');
  const forBob = { tool: 'read_file', action: 'allow', role: 'participant' };
  test.each<[string, readonly Sender[], readonly object[], string]>([
    ['the owner', [olga], [], all],
    ['a program', [job], [], all],
    ['a stranger', [bob], [], ''],
    ['somebody without a role', [nobody], [], ''],
    ['a program of a stranger', [bobsJob], [], ''],
    ['a stranger, with a rule', [bob], [forBob], 'read_file'],
    ['a program of a stranger, with a rule', [bobsJob], [forBob], 'read_file'],
    ['a stranger, with a rule for everybody', [bob], [{ tool: '*_file', action: 'allow' }], 'read_file write_file'],
    ['a stranger, with a rule that asks', [bob], [{ tool: 'fs__*', action: 'ask' }], 'fs__read'],
    ['a stranger, with a rule for the owner', [bob], [{ tool: '*', action: 'allow', role: 'owner' }], ''],
    ['the owner, whom a rule denies it', [olga], [{ tool: '*', action: 'deny', role: 'owner' }], all],
  ])('%s', async (_, [first = olga], rules, names) => {
    const { take, offered } = begin(['hello'], rules, everyTool);
    await take(says('m', first));
    expect(offered()).toBe(names);
  });

  test('a stranger who joins the owner’s turn takes the tools away, but not a call that was allowed before', async () => {
    const { made, model, take, offered, effects } = begin(
      [['mail'], 'done'],
      [],
      [{ name: 'mail', usual: 'ask', idempotent: false }],
    );
    await take(says('m', olga));
    expect(offered()).toBe('mail');
    await take(says('n', bob, 'steer'));
    const resolve = { type: 'resolve_approval', approvalId: 'approval-1', verdict: 'granted', by: olga } as const;
    await take({ ...command('stop', 'yes'), key: homeKey, at: 1_790_000_000_050, data: resolve });
    expect(effects).toEqual(['mail m.1.0']);
    expect([offered(), model.requests.length, made.events().at(-1)?.type]).toEqual(['', 2, 'turn_completed']);
  });

  describe('a rule for a channel is for strangers who wrote from there, whoever else wrote to the session before or since', () => {
    const rules = [{ tool: 'read_file', action: 'allow', role: 'participant', channel: 'telegram' }];
    const from = (id: string, sender: Sender, provider: string, more: object = {}, mode?: string): CommandEnvelope => {
      const { data, ...envelope } = says(id, sender, mode === 'quiet' ? undefined : mode);
      const { message, ...given } = data as Extract<typeof data, { type: 'post_message' }>;
      return {
        ...envelope,
        at: 1_790_000_000_100,
        data: {
          ...given,
          ...(mode === 'quiet' && { queue: { mode: 'steer', debounceMs: 1_000 } }),
          origin: { provider },
          message: { ...message, ...more },
        },
      };
    };
    const answered = (channel: string) => ({ deliverTo: { channel, to: '1' } });

    test.each<[string, readonly CommandEnvelope[], string]>([
      ['from there', [from('n', bob, 'telegram', { channel: 'telegram' })], 'read_file'],
      ['answered there', [from('n', bob, 'telegram', answered('telegram'))], 'read_file'],
      ['from elsewhere', [from('n', bob, 'irc', { channel: 'irc' })], ''],
      ['from elsewhere, to be answered there', [from('n', bob, 'irc', { channel: 'irc', ...answered('telegram') })], ''],
      ['from nowhere', [from('n', bob, 'telegram')], ''],
      [
        'whose turn another, from elsewhere, joins',
        [from('n', bob, 'telegram', { channel: 'telegram' }, 'quiet'), from('o', eve, 'irc', { channel: 'irc' }, 'quiet')],
        '',
      ],
      [
        'who joins the turn of another, from elsewhere',
        [from('n', eve, 'irc', { channel: 'irc' }, 'quiet'), from('o', bob, 'telegram', { channel: 'telegram' }, 'quiet')],
        '',
      ],
    ])('%s', async (_, messages, names) => {
      const { made, take, offered } = begin(['hello olga', 'hello', 'hello'], rules, [
        ...everyTool,
        { name: 'mail', usual: 'ask' },
      ]);
      await take(from('m', olga, 'telegram', answered('telegram')));
      for (const message of messages) await made.take(message);
      await made.clock.pass(2_000);
      expect([made.events().filter(({ type }) => type === 'turn_started').length, offered()]).toEqual([2, names]);
    });

    test('a message that waited is judged by itself, not by those that came after it', async () => {
      const { take, offered } = begin([['mail'], 'sent', 'hello bob', 'hello olga'], rules, [
        ...everyTool,
        { name: 'mail', usual: 'ask' },
      ]);
      await take(from('m', olga, 'telegram', answered('telegram')));
      await take(from('n', bob, 'irc', { channel: 'irc' }));
      await take(from('o', olga, 'telegram', { channel: 'telegram' }, 'collect'));
      await take({
        ...command('stop', 'no'),
        key: homeKey,
        data: { type: 'resolve_approval', approvalId: 'approval-1', verdict: 'denied', by: olga },
      });
      expect(offered(2)).toBe('');
    });
  });

  test('what is not offered is refused all the same', async () => {
    const { take, effects, model } = begin([['write_file'], 'sorry'], [], everyTool);
    await take(says('m', bob));
    expect(effects).toEqual([]);
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({
      outcome: 'denied',
      text: expect.stringContaining('tools.rules'),
    });
  });
});

describe('A5/62: an approval that is asked for a stranger (ADR 22)', () => {
  const mail: FakeTool = { name: 'mail', usual: 'ask', idempotent: false };
  const rules = [{ tool: 'mail', action: 'ask' }];
  const answer = (id: string, approvalId = 'approval-1', verdict = 'granted', at = 1_790_000_000_050): CommandEnvelope => ({
    ...command('stop', id),
    ...{ key: homeKey, at },
    data: { type: 'resolve_approval', approvalId, verdict, by: olga } as never,
  });

  test.each([
    ['where the page has an address', {}, ['On the page: https://natter.example.org/#/approvals/approval-1']],
    ['but not where there is no page', { page: { enabled: false } }, []],
  ])('is told to the owner with its address, %s', async (_, settings, expected) => {
    const gateway = { publicUrl: 'https://natter.example.org' };
    const { made, take } = begin([['mail {"to":"x"}'], 'I asked'], rules, [mail], { gateway, ...settings });
    await take(says('m', bob));
    const notice = made.events().find((event) => event.type === 'notice');
    expect(notice?.notice.text.split('\n').filter((line) => line.startsWith('On the page'))).toEqual(expected);
  });

  test('holds up nobody, is told to the owner, and is made as asked once it is allowed', async () => {
    const { made, take, effects, rows, model } = begin([['mail {"to":"x"}'], 'I asked', 'hi eve', 'sent'], rules, [mail]);
    await take(says('m', bob));
    expect(rows().slice(1)).toEqual([
      'approval_requested m/1 approval-1',
      'notice approval_requested',
      'tool_result m/1 m.1.0 denied',
      'model_step m/1 2 stop',
      'assistant_message m/1',
      'turn_completed m/1',
    ]);
    expect(made.events()).toContainEqual(
      expect.objectContaining({
        notice: expect.objectContaining({
          text: expect.stringContaining(
            `It is for a participant in ${homeKey}; answer with: natter approvals resolve approval-1`,
          ),
          deliverTo: { channel: 'session', to: 'agent:main:main' },
        }),
      }),
    );
    expect(made.events().find(({ type }) => type === 'approval_requested')).toMatchObject({
      expiresAt: 1_790_000_000_000 + 15 * 60_000,
    });
    await take(says('n', eve));
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed', turn: { id: 'n' } });
    await take(answer('yes'));
    expect(effects).toEqual(['mail approval-approval-1.1.0']);
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed', turn: { id: 'approval-approval-1' } });
    expect(model.requests.at(-1)?.messages.slice(-3)).toMatchObject([
      { role: 'user', text: '[olga has allowed what was asked for earlier. It is done now: mail {"to":"x"}]' },
      { role: 'assistant', calls: [{ tool: 'mail', arguments: '{"to":"x"}' }] },
      { role: 'tool', outcome: 'ok' },
    ]);
  });

  test('I6: a host that dies in the call it allowed leaves a question, which holds up nobody either', async () => {
    let isStuck = true;
    const run = () => (isStuck ? new Promise<never>(() => {}) : Promise.resolve({ outcome: 'ok' as const, text: 'sent' }));
    const { made, take, rows } = begin([['mail'], 'I asked', 'it was cut off', 'sent'], rules, [{ ...mail, run }]);
    await take(says('m', bob));
    await take(answer('yes'));
    expect(rows().at(-1)).toBe('tool_call_started approval-approval-1/1 approval-approval-1.1.0 #1');
    isStuck = false;
    made.host.close();
    made.restart();
    await made.host.recover(homeKey);
    await made.clock.pass(10);
    expect(rows().slice(-6)).toEqual([
      'approval_requested approval-approval-1/2 approval-2',
      'notice approval_requested',
      'tool_result approval-approval-1/2 approval-approval-1.1.0 unknown',
      'model_step approval-approval-1/2 2 stop',
      'assistant_message approval-approval-1/2',
      'turn_completed approval-approval-1/2',
    ]);
    await take(answer('again', 'approval-2'));
    expect(rows().at(-1)).toBe('turn_completed approval-approval-2/1');
  });

  test('one stranger’s open question holds up neither another’s nor the owner', async () => {
    const lines: Line[] = [
      ...[['mail {"to":"x"}'], 'I asked', ['mail {"to":"y"}'], 'I asked too', ['mail {"to":"z"}'], 'not again'],
      ...['hi olga', 'sent y', 'sent x'],
    ];
    const { made, take, effects, model } = begin(lines, rules, [mail]);
    await take(says('m', bob));
    await take(says('n', eve));
    await take(says('again', eve));
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({
      outcome: 'denied',
      text: 'A person has to allow it, and is being asked about something else here. Say so; it can be tried again later.',
    });
    expect(made.events().filter(({ type }) => type === 'approval_requested')).toHaveLength(2);
    await take(says('o', olga));
    expect(made.events().filter(({ type }) => type === 'turn_completed')).toHaveLength(4);
    await take(answer('yes', 'approval-2'));
    await take(answer('and yes'));
    expect(effects).toEqual(['mail approval-approval-2.1.0', 'mail approval-approval-1.1.0']);
    expect(made.events().at(-1)).toMatchObject({ type: 'turn_completed', turn: { id: 'approval-approval-1' } });
  });

  test('ends after 15 minutes if nobody answers: its asker is told, and an answer comes too late', async () => {
    const { made, take, effects } = begin([['mail {"to":"x"}'], 'I asked'], rules, [mail]);
    await take(says('m', bob));
    const end = 1_790_000_000_000 + 15 * 60_000;
    const ended = () => made.events().filter(({ type }) => type === 'approval_resolved');
    await made.clock.pass(end - made.clock.now());
    await made.host.expire(homeKey, 'approval-1');
    expect(ended()).toEqual([]);
    await made.clock.pass(1);
    await made.host.expire(homeKey, 'approval-1');
    expect(ended()).toMatchObject([{ approvalId: 'approval-1', verdict: 'expired', by: 'natter' }]);
    expect(made.events().at(-1)).toMatchObject({
      notice: { code: 'approval_refused', text: 'Not allowed: mail {"to":"x"}\n(nobody answered in time)' },
    });
    await take(answer('yes', 'approval-1', 'granted', end + 2));
    expect(effects).toEqual([]);
  });

  test('I10: it is ended by the sweep of its deadline, with no message to wake its session', async () => {
    const { made, take } = begin([['mail'], 'I asked'], rules, [mail]);
    await take(says('m', bob));
    const row = made.system.events.stored().reduce<IndexRow | null>(summarize, null);
    const view = { rows: () => [row], close: async () => {} } as never;
    const expired: string[] = [];
    const over = new AbortController();
    const sweep = recoverLostTurns({
      ...{ clock: made.clock, view, log: pino({ level: 'silent' }), everyMs: 60_000, signal: over.signal },
      ...{ owns: () => true, recover: async () => {}, expireResults: async () => {} },
      expire: async (_, approvalId) => void expired.push(`${approvalId} at ${(made.clock.now() - 1_790_000_000_000) / 60_000}`),
    });
    await made.clock.pass(16 * 60_000);
    over.abort();
    await sweep;
    expect(expired[0]).toMatch(/^approval-1 at 15\.\d+$/);
  });

  test('the owner’s own question waits as before, for three days', async () => {
    const { made, take } = begin([['mail'], 'sent'], [], [mail]);
    await take(says('m', olga));
    expect(made.events().at(-1)).toMatchObject({
      type: 'approval_requested',
      callId: 'm.1.0',
      expiresAt: 1_790_000_000_000 + 3 * 24 * 60 * 60_000,
    });
  });
});

describe('D7: whose sub-agent runs are', () => {
  const spawns = ({ callId }: { callId: string }) => ({ key: 'agent:main:subagent:1' as never, runId: `run of ${callId}` });
  const rules = [{ tool: 'sessions_spawn', action: 'allow' }];
  const stop = (id: string, by: Sender): CommandEnvelope => ({
    ...command('stop', id),
    key: homeKey,
    data: { type: 'stop', reason: '/stop', by, notice: { code: 'stopped' } },
  });

  test.each<[string, Sender, Sender, string]>([
    ['a stranger stops their own', bob, bob, 'Stopped 1 sub-agent run.'],
    ["no other stranger's", bob, eve, 'Nothing was stopped: only the owner may stop what others started.'],
    ["nor the owner's", olga, eve, 'Nothing was stopped: only the owner may stop what others started.'],
  ])('%s', async (_, asks, by, text) => {
    const { made, take } = begin([['sessions_spawn'], 'begun'], rules, [{ name: 'sessions_spawn', spawns }]);
    await take(says('m', asks));
    await take(stop('halt', by));
    expect(made.events()).toContainEqual(expect.objectContaining({ notice: { code: 'stopped', text } }));
    expect(made.events().some(({ type }) => type === 'runs_stopped')).toBe(by === asks);
  });
});
