import { describe, expect, test } from 'vitest';
import { type Config, configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { commandForChat, mayCommand } from '../../../../shared/domain/routing/chat-answer.ts';
import { chatCommandIn } from '../../../../shared/domain/routing/chat-command.ts';
import { sessionCommand } from '../../../../shared/domain/session/commands.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { given as givenHistory } from '../../../support/domain/given.ts';

type Change = NonNullable<Parameters<typeof configSchema.parse>[0]>;
const models = {
  model: {
    aliases: { fast: 'openai/gpt-5-mini' },
    providers: { openai: { kind: 'openai-compatible', models: ['gpt-5', 'gpt-5-mini'] }, empty: { kind: 'anthropic' } },
  },
};
const deliverTo = { channel: 'telegram', to: '42' };
const expiry = { rule: 'session.reset', idleMinutes: 90 };
const ada: Sender = { id: '42', role: 'participant', principal: 'ada' };

/** The session command that a text becomes; it is one that a session would take from the wire. */
const said = (
  text: string,
  {
    settings = {},
    sender = ada,
    key = 'agent:main:main',
    ...more
  }: { settings?: Change; sender?: Sender; key?: string; channel?: string } = {},
) => {
  const config: Config = configSchema.parse(settings);
  const chat = chatCommandIn(text, { triggers: config.session.resetTriggers });
  if (chat === null) throw new Error(`"${text}" is no chat command`);
  const occasion = { sessionId: 's2', expiry };
  const at = Date.parse('2026-03-08T06:00:00Z');
  const command = commandForChat(chat, {
    key: key as SessionKey,
    occasion,
    sender,
    mayChange: true,
    deliverTo,
    messageId: 'm1',
    config,
    at,
    ...more,
  });
  expect(sessionCommand.parse(command)).toEqual(command);
  return command;
};
const owner: Sender = { ...ada, role: 'owner' };

describe('reset', () => {
  const reset = (
    rule: string,
    { by, ...message }: { by?: Sender; text: string; sender: Sender },
    settings?: object,
    notice?: object,
  ) => ({
    type: 'reset',
    sessionId: 's2',
    expiry,
    cause: { trigger: 'command', rule },
    ...(settings && { settings }),
    ...(notice && { notice }),
    ...(by && { by }),
    message: { messageId: 'm1', deliverTo, ...message },
  });
  const natter: Sender = { id: 'natter', role: 'program', onBehalfOf: 'participant' };
  const greeting = { text: expect.stringContaining('Greet'), sender: natter, by: ada };

  test('A5/62: the greeting of a bot on a platform has no more rights than the bot', () => {
    const bot: Sender = { id: '13', role: 'program', principal: 'telegram:13', onBehalfOf: 'participant' };
    expect(said('/new', { sender: bot })).toMatchObject({ message: { sender: natter } });
  });

  test.each([
    ['A4/55: /new alone has the model greet, on behalf of who wrote', '/new', reset('/new', greeting)],
    ['A4/55: /reset alone', '/reset', reset('/reset', greeting)],
    ['A4/53: the remainder is the first message', '/new write a poem', reset('/new', { text: 'write a poem', sender: ada })],
    ['A4/54: a model and no more is greeted by it', '/new fast', reset('/new', greeting, { model: 'openai/gpt-5-mini' })],
    [
      'A4/54: a model and a message',
      '/new fast  write\na poem',
      reset('/new', { text: 'write\na poem', sender: ada }, { model: 'openai/gpt-5-mini' }),
    ],
    [
      'D5: a word that is only similar to a name is taken, and said',
      '/new 5-mini',
      reset(
        '/new',
        greeting,
        { model: 'openai/gpt-5-mini' },
        { code: 'model_taken', deliverTo, text: 'Model: openai/gpt-5-mini' },
      ),
    ],
    ['A4/54: a word that is no model is part of the message', '/new open it', reset('/new', { text: 'open it', sender: ada })],
  ])('%s', (_, text, expected) => expect(said(text, { settings: models })).toEqual(expected));

  test('C17: the cause says which trigger it was', () => {
    expect(said('fresh', { settings: { session: { resetTriggers: ['fresh'] } } })).toMatchObject({
      cause: { trigger: 'command', rule: 'fresh' },
    });
  });

  test.each([
    ['several models', '/new gpt', ['openai/gpt-5, openai/gpt-5-mini', 'Nothing was reset']],
    ['a provider without a known model', '/reset empty', ['/reset empty/<model>', 'Nothing was reset']],
    ['a text that may mean one', '/new gpt-9 hello', ['If it is your message, write /new alone first.']],
  ])('A4/54: what is ambiguous is refused with a list: %s', (_, text, parts) => {
    const command = said(text, { settings: models });
    expect(command).toMatchObject({ type: 'post_notice', notice: { code: 'model_ambiguous', deliverTo } });
    for (const part of parts) expect(command.type === 'post_notice' && command.notice.text).toContain(part);
  });

  test('D5: what has the form of a model is never a message by mistake', () => {
    const command = said('/new google/gemini and hello', { settings: models });
    expect(command).toMatchObject({ type: 'post_notice', notice: { code: 'model_unknown', deliverTo } });
    expect(command.type === 'post_notice' && command.notice.text).toContain('there is no model "google/gemini"');
  });
});

test('A11/125: /stop says how much it stopped', () => {
  expect(said('/stop')).toEqual({ type: 'stop', reason: '/stop', notice: { code: 'stopped', deliverTo } });
});

describe('reports', () => {
  const facts = (text: string, given?: Parameters<typeof said>[1]) => {
    const command = said(text, given);
    if (command.type !== 'report') throw new Error(command.type);
    return { ...command.facts, code: command.notice.code, to: command.notice.deliverTo };
  };

  test('A11/123: /status knows the model, the next reset and the dangers of the configuration', () => {
    const settings = {
      agent: { model: 'openai/gpt-5' },
      session: { timeZone: 'America/New_York', reset: { idleMinutes: 90 } },
      channels: { telegram: {} },
    };
    expect(facts('/status', { settings, sender: owner })).toEqual({
      kind: 'status',
      model: 'openai/gpt-5',
      parts: [{ name: 'system prompt', characters: 28 }],
      windowTokens: 128_000,
      queueMode: 'followup',
      nextDaily: '2026-03-08 04:00 America/New_York',
      expiry,
      warnings: [expect.stringContaining('session.dmScope')],
      code: 'status',
      to: deliverTo,
    });
  });

  const bot: Sender = { ...ada, role: 'program', onBehalfOf: 'participant' };
  test.each([
    ['the owner', owner, 1],
    ['a program of the installation', { id: 'api', role: 'program' }, 1],
    ['a stranger', ada, 0],
    ['a bot on a platform', bot, 0],
    ['somebody without a role', { id: '42' }, 0],
  ] as const)('D7: what is wrong with the configuration is told to the owner alone: %s', (_, sender, count) => {
    const settings = {
      agent: { owners: ['ann'] },
      session: { identityLinks: { ann: ['1001'] }, dmScope: 'per-peer', strict: true },
    };
    for (const text of ['/status', '/context', '/context detail'])
      expect(facts(text, { settings: settings as Change, sender }).warnings).toHaveLength(count);
  });

  test('A11/124: /context list and detail tell what the system prompt is made of', () => {
    const settings = { agent: { systemPrompt: 'Be brief.' } };
    const parts = [{ name: 'system prompt', characters: 9 }];
    expect(facts('/context', { settings })).toMatchObject({ kind: 'context_list', parts, code: 'context' });
    expect(facts('/context detail', { settings })).toMatchObject({ kind: 'context_detail', parts, code: 'context' });
  });

  test.each([
    ['A4/51: of a group', 'agent:main:telegram:group:-100', undefined, 10],
    ['A4/51: of a thread', 'agent:main:telegram:group:-100:topic:7', undefined, 11],
    ['A4/51: of a direct chat', 'agent:main:main', undefined, 12],
    ['A4/52: of a channel, by the key', 'agent:main:discord:channel:9', undefined, 13],
    ['A4/52: of a channel that the key does not name', 'agent:main:main', 'discord', 13],
  ])('the next reset is that %s', (_, key, channel, hour) => {
    const policy = (atHour: number) => ({ mode: 'daily', atHour });
    const session = {
      resetByType: { group: policy(10), thread: policy(11), dm: policy(12) },
      resetByChannel: { discord: policy(13) },
    };
    const told = facts('/status', { settings: { session }, key, ...(channel && { channel }) });
    expect(told).toMatchObject({ nextDaily: `2026-03-08 ${hour}:00 UTC` });
  });
});

describe('/send', () => {
  test.each([
    ['on', 'allow'],
    ['off', 'deny'],
    ['inherit', null],
  ])('A9/94: %s by the owner', (word, sendPolicy) => {
    expect(said(`/send ${word}`, { sender: owner })).toEqual({
      type: 'patch_session',
      settings: { sendPolicy },
      notice: { code: 'send_policy', text: expect.any(String), deliverTo },
    });
  });

  test.each(['participant', 'program', undefined] as const)('A9/94: a %s is told that it is the owner’s', (role) => {
    const { role: _, ...somebody } = ada;
    const command = said('/send on', { sender: role ? { ...somebody, role } : somebody });
    expect(command).toMatchObject({ type: 'post_notice', notice: { code: 'owner_only', deliverTo } });
  });
});

test('A7/81: /checkpoint asks for an introspection; where there are none it says so', () => {
  const notice = { code: 'checkpoint', deliverTo };
  expect(said('/checkpoint')).toEqual({ type: 'request_checkpoint', why: { reason: 'manual' }, notice });
  expect(said('/checkpoint', { settings: { introspection: { enabled: false } } })).toEqual({
    type: 'post_notice',
    notice: { code: 'introspection_disabled', deliverTo, text: expect.stringContaining('introspection.enabled') },
  });
});

describe('who may', () => {
  test.each([
    ['A5/67: everybody in a direct chat', { direct: true, addressed: false, role: 'participant' }, true],
    ['A6/73: the owner in a group', { direct: false, addressed: false, role: 'owner' }, true],
    ['A6/74: who addresses the agent in a group', { direct: false, addressed: true, role: 'participant' }, true],
    ['A6/75: nobody else in a group', { direct: false, addressed: false, role: 'participant' }, false],
    ['A6/75: nor a program', { direct: false, addressed: false, role: 'program' }, false],
  ] as const)('%s', (_, asking, expected) => expect(mayCommand(asking)).toBe(expected));
});

test('C10: the session takes what /new becomes: one commit ends the old generation and begins the new one', () => {
  const data = said('/new fast hello', { settings: models });
  const id = 'm9';
  givenHistory('post m1')
    .when({ id, key: 'agent:main:test' as SessionKey, at: 200, correlationId: id, causationId: id, actor: 'test', data })
    .then(
      'turn_aborted m1/1 /new',
      'checkpoint_requested new_session s1 1-1',
      'session_reset s1 to s2 g2',
      'settings_changed {"model":"openai/gpt-5-mini"}',
      'user_message m1 for a turn',
      'turn_started m9/1',
    );
});
