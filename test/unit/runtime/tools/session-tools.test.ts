import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import {
  sessionRow,
  sessionsHistoryParameters,
  sessionsListParameters,
  sessionsSendParameters,
  sessionsSendResult,
  type TranscriptMessage,
} from '../../../../shared/domain/projections/schemas.ts';
import { sessionRowOf } from '../../../../shared/domain/projections/session-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { RecentMessages, transcriptMessages, withoutToolResults } from '../../../../shared/domain/projections/transcript.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { commitTo, recorded, userMessage } from '../../../support/domain/commits.ts';

const config = (session: object = {}) => configSchema.parse({ session });
const telegram = { channel: 'telegram', to: '42' };

/** The row of a session in which one message was said, with what a test is about. */
const rowOf = (key: string, given: Partial<IndexRow> = {}): IndexRow => ({
  ...summarize(null, recorded(commitTo(key as SessionKey, { events: [userMessage('hello')] }), 1)),
  sessionId: 's1',
  ...given,
});
const shown = (key: string, given: Partial<IndexRow> = {}, session: object = {}) =>
  sessionRowOf(rowOf(key, given), config(session));

describe('a row of the list', () => {
  test.each([
    ['agent:main:main', {}, 'main'],
    ['agent:main:home', { mainKey: 'home' }, 'main'],
    ['agent:main:main', { mainKey: 'home' }, 'stored:agent:main:main'],
    ['agent:main:cron:daily', {}, 'cron:daily'],
    ['agent:main:global', { scope: 'global' }, 'main'],
    ['agent:work:main', {}, 'agent:work:main'],
    ['agent:main:telegram:group:-100', {}, 'agent:main:telegram:group:-100'],
  ])('A10/103, A3/40, C2: %s with %o is shown as %s', (key, session, name) => {
    expect(shown(key, {}, session).key).toBe(name);
  });

  test.each([
    ['agent:main:main', 'main', 'unknown'],
    ['agent:main:telegram:group:-100', 'group', 'telegram'],
    ['agent:main:discord:channel:7', 'group', 'discord'],
    ['agent:main:cron:daily', 'cron', 'internal'],
    ['agent:main:hook:5e1f', 'hook', 'internal'],
    ['agent:main:node-mac', 'node', 'internal'],
    ['agent:main:cli:work', 'other', 'unknown'],
    ['agent:main:dm:42', 'other', 'unknown'],
  ])('A10/104, 105, 114: %s is a %s of %s', (key, kind, provider) => {
    expect(shown(key)).toMatchObject({ kind, provider });
  });

  test('A10/114: a direct session is of the channel it was last reached by', () => {
    expect(shown('agent:main:main', { lastRoute: telegram }).provider).toBe('telegram');
    expect(shown('agent:main:cron:daily', { lastRoute: telegram }).provider).toBe('internal');
    expect(shown('agent:main:discord:group:7', { lastRoute: telegram }).provider).toBe('discord');
  });

  test('C7: provider and channel are the same', () => {
    const row = shown('agent:main:telegram:group:-100');
    expect(row.channel).toBe(row.provider);
  });

  test('A10/106: groups have a name', () => {
    const group = 'agent:main:discord:channel:7';
    expect(shown(group)).not.toHaveProperty('displayName');
    expect(shown(group, { origin: { label: 'Friends' } }).displayName).toBe('Friends');
    expect(shown(group, { origin: { label: 'Friends', displayName: 'discord:home#talk' } }).displayName).toBe(
      'discord:home#talk',
    );
    expect(shown(group, { settings: { displayName: 'Ours' }, origin: { displayName: 'x' } }).displayName).toBe('Ours');
    expect(shown('agent:main:main', { origin: { label: 'Ann' } })).not.toHaveProperty('displayName');
  });

  test('A10/107-109: times, tokens, levels and flags come from the session', () => {
    const given = {
      updatedAt: 7_000,
      sessionId: 's9',
      model: 'fast',
      contextTokens: 3,
      totalTokens: 10,
      systemSent: true,
      abortedLastRun: true,
      failedLastRun: true,
      settings: { thinkingLevel: 'high', verboseLevel: 'on' },
    };
    const { settings, ...fields } = given;
    expect(shown('agent:main:main', given)).toMatchObject({ ...fields, ...settings });
    expect(shown('agent:main:main')).not.toHaveProperty('thinkingLevel');
    expect(shown('agent:main:main', { settings: { model: 'wanted' }, model: 'last' }).model).toBe('wanted');
  });

  test('A10/110: sendPolicy is there only where the session has its own', () => {
    expect(shown('agent:main:main')).not.toHaveProperty('sendPolicy');
    expect(shown('agent:main:main', { settings: { sendPolicy: 'deny' } }).sendPolicy).toBe('deny');
  });

  test('A10/111: where its answers last went', () => {
    expect(shown('agent:main:main', { lastRoute: telegram })).toMatchObject({ lastChannel: 'telegram', lastTo: '42' });
    expect(shown('agent:main:main')).not.toHaveProperty('lastTo');
  });

  test.each([
    ['agent:main:main', '~/mirror/{agentId}/sessions.json', 's1', '~/mirror/main/s1.jsonl'],
    ['agent:main:main', '~/mirror/{agentId}', 's1', '~/mirror/main/s1.jsonl'],
    ['agent:main:telegram:group:-100:topic:9', '/m', 'telegram:2026-01-01-a', '/m/telegram%3A2026-01-01-a-topic-9.jsonl'],
    ['agent:main:cli:x', '/m', 'cli:../../etc/passwd', '/m/cli%3A..%2F..%2Fetc%2Fpasswd.jsonl'],
  ])('A10/112, A2/10, 19: %s under %s with id %s is at %s', (key, store, sessionId, path) => {
    expect(shown(key, { sessionId }, { store }).transcriptPath).toBe(path);
  });
  test('A10/112: without a mirror there is no path', () => expect(shown('agent:main:main')).not.toHaveProperty('transcriptPath'));

  test('A10/113: messages are there only where some were asked for', () => {
    expect(shown('agent:main:main')).not.toHaveProperty('messages');
    expect(sessionRowOf(rowOf('agent:main:main'), config(), []).messages).toEqual([]);
  });

  test('A10/100: a row is what the schema says, and nothing else', () => {
    const row = shown(
      'agent:main:telegram:group:-1',
      { lastRoute: telegram, settings: { sendPolicy: 'allow' } },
      { store: '/m' },
    );
    expect(sessionRow.strict().parse(row)).toEqual(row);
  });
});

describe('parameters', () => {
  test.each([
    [sessionsListParameters, {}, { limit: 50, messageLimit: 0 }],
    [
      sessionsListParameters,
      { limit: 9_999, messageLimit: 999 },
      { limit: limits.toolRows, messageLimit: limits.toolRowMessages },
    ],
    [sessionsHistoryParameters, { sessionKey: 'main' }, { sessionKey: 'main', limit: 100, includeTools: false }],
    [
      sessionsHistoryParameters,
      { sessionKey: 'main', limit: 1e9 },
      { sessionKey: 'main', limit: limits.pageRows, includeTools: false },
    ],
    [sessionsSendParameters, { sessionKey: 'main', message: 'x' }, { sessionKey: 'main', message: 'x', timeoutSeconds: 30 }],
    [
      sessionsSendParameters,
      { sessionKey: 'main', message: 'x', timeoutSeconds: 86_400 },
      { sessionKey: 'main', message: 'x', timeoutSeconds: limits.waitSeconds },
    ],
  ])('A10/101, 115, 117: defaults and clamps %#', (schema: z.ZodType, given, expected) => {
    expect(schema.parse(given)).toEqual(expected);
  });

  test.each([
    [sessionsListParameters, { kinds: ['dm'] }],
    [sessionsListParameters, { kinds: [] }],
    [sessionsListParameters, { limit: 0 }],
    [sessionsListParameters, { messageLimit: -1 }],
    [sessionsListParameters, { activeMinutes: 0 }],
    [sessionsListParameters, { agent: 'x' }],
    [sessionsHistoryParameters, {}],
    [sessionsHistoryParameters, { sessionKey: '' }],
    [sessionsSendParameters, { sessionKey: 'main' }],
    [sessionsSendParameters, { sessionKey: 'main', message: '' }],
    [sessionsSendParameters, { sessionKey: 'main', message: 'x', timeoutSeconds: -1 }],
  ])('A10/100: what makes no sense is refused %#', (schema: z.ZodType, given) => {
    expect(schema.safeParse(given).success).toBe(false);
  });

  test('A10/100: other interfaces can describe them as JSON Schema', () => {
    for (const schema of [sessionsListParameters, sessionsHistoryParameters, sessionsSendParameters])
      expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ type: 'object', additionalProperties: false });
    expect(z.toJSONSchema(sessionsSendResult)).toMatchObject({ oneOf: expect.anything() });
  });
});

describe('a transcript', () => {
  const usage = { inputTokens: 2, outputTokens: 3, totalTokens: 5 };
  const turn = { id: 'r1', attempt: 1 };
  const said = (text: string): SessionEvent[] => [
    { type: 'model_step', v: 1, turn, step: 1, text, finish: 'stop', model: 'fast', usage },
    { type: 'assistant_message', v: 1, turn, messageId: 'r1', text },
  ];
  const commit = (seq: number, events: readonly SessionEvent[]): RecordedCommit =>
    recorded(commitTo('agent:main:main' as SessionKey, { events, at: 1_000 + seq }), seq);
  const reset: SessionEvent = {
    type: 'session_reset',
    v: 1,
    previousSessionId: 's1',
    sessionId: 's2',
    generation: 2,
    reason: 'api',
  };
  const recent = (limit: number, characters: number, commits: readonly RecordedCommit[]): string[] => {
    const messages = new RecentMessages({ limit, characters, includeTools: false });
    for (const one of commits) messages.add(one);
    return messages.messages.map(({ content }) => content.map((part) => (part.type === 'text' ? part.text : part.name)).join(''));
  };

  test('A10/116: messages have role, content, time, model and tokens as recorded', () => {
    expect(transcriptMessages(commit(3, said('hi')))).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'hi' }],
        timestamp: 1_003,
        id: '3.1',
        messageId: 'r1',
        runId: 'r1',
        model: 'fast',
        usage,
      },
    ]);
    expect(transcriptMessages(commit(1, [userMessage('hello')]))).toMatchObject([
      { role: 'user', content: [{ text: 'hello' }], id: '1.0' },
    ]);
  });

  test('A10/102, 116: without tool results', () => {
    const [user] = transcriptMessages(commit(1, [userMessage('hello')])) as [TranscriptMessage];
    expect(withoutToolResults([user, { ...user, role: 'toolResult' }])).toEqual([user]);
  });

  test('A10/116: calls of tools and their results are messages, in raw form, unless they are not wanted; notes for the memory never', () => {
    const turn = { id: 'r1', attempt: 1 };
    const calls = [{ callId: 'r1.1.0', tool: 'read_file', arguments: '{"path":"a"}' }];
    const model = { type: 'model_step', v: 1, turn, step: 1, finish: 'continue', model: 'fast', usage } as const;
    const result = { type: 'tool_result', v: 1, turn, callId: 'r1.1.0', tool: 'read_file', bytes: 5 } as const;
    const commits = [
      commit(1, [{ ...model, text: 'Let me look.', calls }]),
      commit(2, [{ ...result, outcome: 'error', text: 'no file' }]),
      commit(3, [{ ...model, text: '', calls }]),
      commit(4, [{ ...model, text: '', calls, flush: true }]),
    ];
    const toolCall = { type: 'toolCall', id: 'r1.1.0', name: 'read_file', arguments: '{"path":"a"}' };
    const said = commits.flatMap(transcriptMessages);
    expect(said).toMatchObject([
      { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }, toolCall], runId: 'r1', model: 'fast', usage },
      { role: 'toolResult', content: [{ text: 'no file' }], toolCallId: 'r1.1.0', toolName: 'read_file', isError: true },
      { role: 'assistant', content: [toolCall] },
    ]);
    expect(withoutToolResults(said)).toMatchObject([{ role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }] }]);
  });

  test('A10/115: the last ones, of the present generation only', () => {
    const commits = ['a', 'b', 'c'].map((text, at) => commit(at + 1, said(text)));
    expect(recent(2, 1_000, commits)).toEqual(['b', 'c']);
    expect(recent(9, 1_000, [...commits, commit(4, [reset]), commit(5, said('d'))])).toEqual(['d']);
  });

  test('I11: of long ones only as many as fit, and always the last', () => {
    const commits = ['aaaa', 'bbbb', 'cccc'].map((text, at) => commit(at + 1, said(text)));
    expect(recent(9, 8, commits)).toEqual(['bbbb', 'cccc']);
    expect(recent(9, 1, commits)).toEqual(['cccc']);
  });
});
