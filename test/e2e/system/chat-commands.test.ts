import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterwards, pathOf } from '../gateway/setup.ts';
import { type Change, startWhole, type Whole } from './whole.ts';

/** Each chat command as people use it: said on a channel, answered there, and in the log (A4/53-55, A9/94-95, A11/123-125). */

const owner = 'telegram:7';
const key = 'agent:main:telegram:default:dm:7';
const ann = 'telegram:1';
const annKey = 'agent:main:telegram:default:dm:1';
const groupKey = 'agent:main:telegram:group:-100';
const group = { conversation: { id: '-100', kind: 'group' } };
const openai = { kind: 'openai-compatible', models: ['gpt-5', 'gpt-5-mini'] };
const model = {
  aliases: { fast: 'openai/gpt-5-mini' },
  providers: { openai, anthropic: { kind: 'anthropic', models: ['claude-opus', 'claude-haiku'] } },
};
const greets = /^Hello! This session begins anew\. What can I do for you\?$/;

/** Says something and resolves with the text that comes back to the same chat. */
const ask = async (whole: Whole, person: string, text: string, change?: Change): Promise<string> => {
  await whole.say(person, text, change);
  const { target, text: answer } = await whole.delivered();
  expect(`telegram:${target.to}`).toBe(change === group ? 'telegram:-100' : person);
  return answer;
};
const textsIn = async ({ eventsOf }: Whole, where: string): Promise<string[]> =>
  (await eventsOf(where, 'user_message')).map(({ message }) => message.text);
const noticesIn = async ({ eventsOf }: Whole, where: string): Promise<string[]> =>
  (await eventsOf(where, 'notice')).map(({ notice }) => notice.text);

describe('a new session', () => {
  test.each(['/new', '/reset', 'start over'])(
    'A4/53, 55: "%s" alone begins a new session, and the model greets',
    async (word) => {
      const whole = await startWhole({ session: { resetTriggers: ['start over'] } });
      await ask(whole, owner, 'hello');
      expect(await ask(whole, owner, word)).toMatch(greets);
      const [reset] = await whole.eventsOf(key, 'session_reset');
      expect(reset).toMatchObject({ generation: 2, cause: { trigger: 'command', rule: word } });
      expect(reset?.sessionId).not.toBe(reset?.previousSessionId);
      expect(await whole.eventsOf(key, 'checkpoint_requested')).toMatchObject([
        { reason: 'new_session', sessionId: reset?.previousSessionId },
      ]);
      const { body } = await whole.as.owner('GET', pathOf(key));
      expect(body).toMatchObject({ sessionId: reset?.sessionId, generation: 2, messageCount: 2, completedTurns: 1 });
    },
  );

  test('A4/53: the remainder is the first message of the new session', async () => {
    const whole = await startWhole();
    await ask(whole, owner, 'hello');
    expect(await ask(whole, owner, '/new hello there')).toBe('You said: hello there');
    expect(await ask(whole, owner, 'and on')).toBe('You said: and on');
    const commits = await whole.commitsOf(key);
    const later = commits.filter(({ sessionId }) => sessionId === commits.at(-1)?.sessionId).flatMap(({ events }) => events);
    expect(later.map((event) => (event.type === 'user_message' ? event.message.text : '')).filter(Boolean)).toEqual([
      'hello there',
      'and on',
    ]);
  });

  test.each([
    ['an alias', 'fast', 'openai/gpt-5-mini'],
    ['provider/model', 'anthropic/claude-opus', 'anthropic/claude-opus'],
    ['a provider', 'anthropic', 'anthropic/claude-opus'],
  ])('A4/54: /new with %s sets the model of the new session', async (_, word, expected) => {
    const whole = await startWhole({ more: { model } });
    await ask(whole, owner, 'hello');
    expect(await ask(whole, owner, `/new ${word}`)).toMatch(greets);
    expect(await whole.eventsOf(key, 'settings_changed')).toMatchObject([{ changes: { model: expected } }]);
    expect(await ask(whole, owner, '/status')).toContain(`Model: ${expected}`);
  });

  test.each([
    ['/new antropic/haiku', 'anthropic/claude-haiku', greets],
    ['/new haiku hello', 'anthropic/claude-haiku', /^You said: hello$/],
  ])('D5: "%s" is near enough, and what it took is said before the answer', async (text, expected, answer) => {
    const whole = await startWhole({ more: { model } });
    expect(await ask(whole, owner, text)).toBe(`Model: ${expected}`);
    expect((await whole.delivered()).text).toMatch(answer);
    expect(await whole.eventsOf(key, 'settings_changed')).toMatchObject([{ changes: { model: expected } }]);
  });

  test('D5: a name that is none becomes no message; an ordinary word does', async () => {
    const whole = await startWhole({ more: { model } });
    expect(await ask(whole, owner, '/new google/gemini hello')).toMatch(/^Nothing was reset: there is no model "google\/gemini"/);
    expect(await whole.eventsOf(key, 'user_message')).toEqual([]);
    expect(await ask(whole, owner, '/new what is the weather')).toBe('You said: what is the weather');
  });

  test('A4/54: a name that could be several models resets nothing and lists them', async () => {
    const whole = await startWhole({ more: { model } });
    await ask(whole, owner, 'hello');
    expect(await ask(whole, owner, '/new gpt')).toMatch(
      /Nothing was reset: "gpt" names no single model; near it: openai\/gpt-5, openai\/gpt-5-mini/,
    );
    expect(await whole.eventsOf(key, 'session_reset')).toEqual([]);
    expect((await noticesIn(whole, key))[0]).toContain('openai/gpt-5-mini');
  });
});

test('A11/125: /stop ends the run and its queue and says how much; what the run says later is discarded; the next message runs', async () => {
  const whole = await startWhole();
  await whole.say(owner, '[[think 300]] [[steps 2]] too late');
  await whole.until(async () => expect((await whole.as.owner('GET', pathOf(key))).body.status).toBe('running'));
  await whole.say(owner, 'never one');
  await whole.say(owner, 'never two');
  expect(await ask(whole, owner, '/stop')).toBe('Stopped the answer and cleared 2 waiting messages.');
  expect(await ask(whole, owner, 'after')).toBe('You said: after');
  await whole.settled();
  expect(whole.sent.map(({ text }) => text)).toEqual(['Stopped the answer and cleared 2 waiting messages.', 'You said: after']);
  expect((await whole.eventsOf(key, 'assistant_message')).map(({ text }) => text)).toEqual(['You said: after']);
  expect(await whole.eventsOf(key, 'turn_aborted')).toMatchObject([{ reason: '/stop' }]);
  expect((await whole.eventsOf(key, 'queue_cleared')).map(({ turnIds }) => turnIds.length)).toEqual([2]);
  expect(await ask(whole, owner, '/stop')).toBe('Nothing was running.');
});

describe('reports', () => {
  test('A11/123, A3/31: /status tells model, session, tokens and what is dangerous here; the answer is no turn', async () => {
    const whole = await startWhole({ session: { dmScope: 'main' }, more: { channels: { telegram: { dmPolicy: 'open' } } } });
    await ask(whole, owner, 'hello');
    const text = await ask(whole, owner, '/status');
    const { body } = await whole.as.owner('GET', pathOf('agent:main:main'));
    expect(text.split('\n')).toEqual([
      'Agent: reachable. Model: offline',
      `Session: idle, generation 1, ID ${body.sessionId}`,
      `Context: ${body.contextTokens} of 128,000 tokens (0%), estimated; ${body.totalTokens} used in 1 turn, 2 messages`,
      'Waiting: 0 messages. One that arrives while a turn runs: it waits for a turn of its own (queue mode followup)',
      'Thinking: default. Sending: as configured',
      expect.stringMatching(/^Next reset: \d{4}-\d\d-\d\d 04:00 UTC$/),
      expect.stringMatching(/^Warning: anybody may write on telegram, and with session.dmScope "main"/),
    ]);
    expect(await noticesIn(whole, 'agent:main:main')).toEqual([text]);
    expect(body).toMatchObject({ completedTurns: 1, messageCount: 2 });
  });

  test('A11/124: /context list and /context detail tell what the system prompt is made of', async () => {
    const whole = await startWhole({ more: { agent: { owners: [owner], systemPrompt: 'x'.repeat(400) } } });
    await ask(whole, owner, 'hello');
    for (const kind of ['list', 'detail']) {
      const text = await ask(whole, owner, `/context ${kind}`);
      expect(text).toMatch(/^System prompt: [\d,]+ characters, about [\d,]+ tokens, in 2 parts\n- tools: /);
      expect(text).toContain('- system prompt: 400 characters, about 100 tokens');
      expect(text).toMatch(/^Tools: /m);
    }
    expect((await whole.eventsOf(key, 'notice')).map(({ notice }) => notice.code)).toEqual(['context', 'context']);
  });
});

test('A11/124: /context list names the files of the workspace that the model is given', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'natter-context-'));
  afterwards(() => rm(workspace, { recursive: true, force: true }));
  writeFileSync(join(workspace, 'AGENTS.md'), 'x'.repeat(3_000));
  const whole = await startWhole({ more: { agent: { owners: [owner], workspace } } });
  await ask(whole, owner, '[[steps 2]] hello');
  expect(await ask(whole, owner, '/context list')).toMatch(/^- .*AGENTS\.md: 3,\d{3} characters/m);
});

describe('/send', () => {
  const denied = [{ action: 'deny', match: { channel: 'telegram' } }];
  const byRule = 'suppressed: denied by session.sendPolicy.rules[0]';
  test.each([
    [
      'off suppresses replies by the override, until inherit follows the rules again',
      [],
      [
        ['/send off', 'delivered'],
        ['quiet', 'suppressed: denied by override'],
        ['/send inherit', 'delivered'],
        ['free', 'delivered'],
      ],
    ],
    [
      'on lets out what the rules deny, until inherit follows them again',
      denied,
      [
        ['ruled', byRule],
        ['/send on', 'delivered'],
        ['loud', 'delivered'],
        ['/send inherit', byRule],
        ['ruled again', byRule],
      ],
    ],
  ])('A9/94, 96, 98: %s', async (_, rules, said) => {
    const whole = await startWhole({ session: { sendPolicy: { rules } } });
    const final = () => whole.custody.filter(({ state }) => state !== 'sending' && state !== 'prepared');
    for (const [index, [text = '', outcome]] of said.entries()) {
      await whole.say(owner, text);
      await whole.until(() => expect(final()).toHaveLength(index + 1));
      const { state, detail } = final()[index] ?? {};
      expect([text, detail === undefined ? state : `${state}: ${detail}`]).toEqual([text, outcome]);
    }
    const asked = said.flatMap(([text = '']) => (text.startsWith('/') ? [] : [`You said: ${text}`]));
    expect((await whole.eventsOf(key, 'assistant_message')).map(({ text }) => text)).toEqual(asked);
    expect(whole.sent).toHaveLength(said.filter(([, outcome]) => outcome === 'delivered').length);
  });

  test('A9/94: it is the owner’s; others are told so and nothing changes', async () => {
    const whole = await startWhole();
    expect(await ask(whole, ann, '/send off')).toBe('Only the owner may use /send.');
    expect(await ask(whole, ann, 'still here')).toBe('You said: still here');
    expect(await whole.eventsOf(annKey, 'settings_changed')).toEqual([]);
  });
});

test.each(['/send off please', 'please /stop', '/stop it', '/status?', '/context everything', '/newest'])(
  'A9/95, C13: "%s" is no command but a text',
  async (text) => {
    const whole = await startWhole();
    expect(await ask(whole, owner, text)).toBe(`You said: ${text}`);
    expect(await textsIn(whole, key)).toEqual([text]);
    expect(await whole.eventsOf(key, 'notice')).toEqual([]);
  },
);

describe('in a group', () => {
  test('A6/73-76, D7: the owner may command, who names the agent is told so; a bare word of others is a text that is only remembered', async () => {
    const whole = await startWhole();
    await whole.say(ann, '/new', group);
    await whole.say(ann, 'talk among us', group);
    await whole.settled();
    expect(await textsIn(whole, groupKey)).toEqual(['/new', 'talk among us']);
    expect(whole.sent).toEqual([]);

    expect(await ask(whole, ann, '@natter /new', group)).toMatch(/^Nothing was changed: only the owner may use \/new/);
    expect(await ask(whole, owner, '/new', group)).toMatch(greets);
    expect((await whole.eventsOf(groupKey, 'session_reset')).map(({ generation }) => generation)).toEqual([2]);

    expect(await ask(whole, owner, '/new shoes for everybody', group)).toMatch(/\n\/new shoes for everybody$/);
    expect(await whole.eventsOf(groupKey, 'session_reset')).toHaveLength(1);
    expect(await ask(whole, ann, 'natter: what is new?', group)).toBe('You said: natter: what is new?');
  });

  test('A6/76, D3: the model is told that the owner spoke to the others; what is stored is what was said', async () => {
    const whole = await startWhole();
    expect(await ask(whole, owner, 'to the others', group)).toMatch(
      /^You said: \[The owner wrote this to the group[^\n]+\nto the others$/,
    );
    expect(await textsIn(whole, groupKey)).toEqual(['to the others']);
    const { body } = await whole.as.owner('GET', `${pathOf(groupKey)}/messages`);
    expect(body).toMatchObject({ messages: [{ role: 'user', text: 'to the others' }, { role: 'assistant' }] });
  });

  test('A9/94: /send by another member of the group changes nothing', async () => {
    const whole = await startWhole();
    expect(await ask(whole, ann, '@natter /send off', group)).toBe('Only the owner may use /send.');
    expect(await ask(whole, owner, '/send off', group)).toBe('Sending is off for this session.');
  });
});

test('D8: a stranger is told a code, which the owner approves in the chat; then they may write, until that is revoked', async () => {
  const whole = await startWhole({ more: { channels: { telegram: { dmPolicy: 'pairing' } } } });
  const told = (await ask(whole, ann, 'let me in')) ?? '';
  const [, code = ''] = /approve the code ([A-Z2-9]{8});/.exec(told) ?? [];
  await whole.say(ann, 'hello?');
  expect((await whole.as.owner('GET', '/v1/pairing')).body).toMatchObject({
    requests: [{ channel: 'telegram', senderId: '1', code }],
  });
  expect(await ask(whole, owner, `/pair ${code}`)).toBe('Approved: telegram:1 may write to me now.');
  expect(await ask(whole, ann, 'and now?')).toBe('You said: and now?');
  await whole.as.owner('POST', '/v1/pairing/revoke', { body: { channel: 'telegram', senderId: '1' } });
  expect(await ask(whole, ann, 'still there?')).toMatch(/^I do not know you yet/);
  expect(await textsIn(whole, annKey)).toEqual(['and now?']);
});

test('A3/31: with an allow list the direct messages of strangers reach no session, nor do their commands', async () => {
  const whole = await startWhole({ more: { channels: { telegram: { dmPolicy: 'allowlist', allowFrom: ['1'] } } } });
  for (const text of ['let me in', '/new', '/status']) await whole.say('telegram:9', text);
  expect(await ask(whole, ann, 'hello')).toBe('You said: hello');
  expect(await ask(whole, owner, 'hello')).toBe('You said: hello');
  await whole.settled();
  expect(await whole.commitsOf('agent:main:telegram:default:dm:9')).toEqual([]);
  expect((await whole.memory.events.info()).lastSeq).toBe(2);
});

test('A6/77-78: a silent reply is not delivered, nor shown to who waits for it or lists the sessions; the log keeps it as it was', async () => {
  const whole = await startWhole();
  await whole.say(owner, '[[silent]] psst');
  await whole.until(() => expect(whole.custody.map(({ state }) => state)).toContain('suppressed'));
  const waited = await whole.as.owner('POST', pathOf(key, '/messages?wait=10'), { body: { text: '[[silent]] again' } });
  expect(waited.body).toMatchObject({ status: 'ok', reply: '' });
  expect((await whole.as.owner('GET', pathOf(key))).body.lastMessagePreview).toBe('[[silent]] again');
  expect((await whole.eventsOf(key, 'assistant_message')).map(({ text }) => text)).toEqual(['<NO_REPLY>', '<NO_REPLY>']);
  expect(whole.sent).toEqual([]);
});
