import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { commandForChat } from '../../../../shared/domain/routing/chat-answer.ts';
import { chatCommandIn, reservedCommands } from '../../../../shared/domain/routing/chat-command.ts';
import { chatCommandLines } from '../../../../shared/domain/routing/chat-help.ts';
import { sessionCommand } from '../../../../shared/domain/session/commands.ts';
import { decide } from '../../../../shared/domain/session/decide/index.ts';
import { stateAfter } from '../../../support/domain/given.ts';

const config = configSchema.parse({
  agent: { model: 'openai/gpt-5' },
  model: {
    aliases: { fast: 'openai/gpt-5-mini' },
    providers: { openai: { kind: 'openai-compatible', models: ['gpt-5', 'gpt-5-mini'] } },
  },
});
/** The session command that a text becomes; it is one that a session would take from the wire. */
const said = (text: string) => {
  const chat = chatCommandIn(text, { triggers: [] });
  if (chat === null) throw new Error(`"${text}" is no chat command`);
  const command = commandForChat(chat, {
    ...{ key: 'agent:main:main' as SessionKey, occasion: { sessionId: 's2' }, sender: { id: '1' }, mayChange: true },
    ...{ messageId: 'm1', config, at: 100 },
  });
  expect(sessionCommand.parse(command)).toEqual(command);
  return command;
};
/** What a command tells, and what it changes. */
const told = (text: string, ...history: string[]): { text: string; settings?: object } => {
  const data = said(text);
  const id = 'c';
  const envelope = { id, key: 'agent:main:test' as SessionKey, at: 100, correlationId: id, causationId: id, actor: 'test', data };
  const decision = decide(envelope, stateAfter(...history));
  const notice = ('accept' in decision ? decision.accept : []).find(({ type }) => type === 'notice');
  if (notice?.type !== 'notice') throw new Error(JSON.stringify(decision));
  return { text: notice.notice.text, ...(data.type === 'patch_session' && { settings: data.settings }) };
};

describe('a command that sets one thing (B25)', () => {
  test.each([
    ['/model fast', { model: 'openai/gpt-5-mini' }, 'Model: openai/gpt-5-mini'],
    ['/model openai/gpt-5', { model: 'openai/gpt-5' }, 'Model: openai/gpt-5'],
    [
      '/model openai/nothere',
      { model: 'openai/nothere' },
      'Model: openai/nothere (the configuration does not name it, so it was not checked; /model lists those it names, /model default goes back)',
    ],
    ['/Model DEFAULT', { model: null }, 'Model: as configured.'],
    ['/think high', { thinkingLevel: 'high' }, 'Thinking: high'],
    ['/think OFF', { thinkingLevel: 'off' }, 'Thinking: off'],
    ['/queue steer', { queueMode: 'steer' }, 'Queue mode: steer'],
    ['/queue default', { queueMode: null }, 'Queue mode: as configured.'],
    ['/activation always', { activation: 'always' }, 'Activation in a group: always'],
    ['/name  The Rome trip', { displayName: 'The Rome trip' }, 'Name: The Rome trip'],
  ])('%s', (text, settings, notice) => expect(told(text, 'open')).toEqual({ text: notice, settings }));

  test.each([
    ['/model nobody/knows', /^Nothing was changed: there is no model "nobody\/knows"/],
    ['/model gpt', /^Nothing was changed: "gpt" names no single model; near it: openai\/gpt-5, openai\/gpt-5-mini/],
    ['/model tell me a story', /^Nothing was changed: there is no model "tell me a story"/],
    ['/think hihg', /"hihg" is none of off, minimal, low, medium, high, xhigh\. Did you mean high\?/],
    ['/queue up please', /"up please" is none of followup, collect, steer, interrupt, reject\./],
    ['/activation', /^Activation in a group: default\nChoices: mention, always\n/],
    ['/activation never', /none of mention, always/],
    [`/name ${'x'.repeat(257)}`, /at most 256 characters/],
  ])('D11: what it cannot be is refused, with what it can: %s', (text, notice) => {
    expect(told(text, 'open')).toEqual({ text: expect.stringMatching(notice) });
  });

  test.each([
    [
      '/model',
      /^Model: openai\/gpt-5 \(as configured\)\nChoices: fast, openai\/gpt-5, openai\/gpt-5-mini\nChange it with \/model <choice>; \/model default/,
    ],
    ['/think', /^Thinking: default\nChoices: off, minimal/],
    [
      '/queue',
      /^Queue mode: followup \(as configured\)\nChoices, for .+:\nfollowup: it waits for a turn of its own\n(.+\n){3}reject: it is refused\n/,
    ],
    ['/name', /^Name: none\nChange it with \/name <text>; \/name default removes it/],
  ])('alone it shows it: %s', (text, notice) => expect(told(text, 'open').text).toMatch(notice));

  test('alone it shows what was set', () => {
    expect(told('/queue', 'open', 'set queueMode steer').text).toMatch(/^Queue mode: steer\n/);
    expect(told('/status', 'open', 'set queueMode steer').text).toContain(
      'Waiting: 0 messages. One that arrives while a turn runs: the running turn gets it before its next step (queue mode steer)',
    );
    expect(told('/status', 'open', 'set displayName Plans').text).toMatch(/^Name: Plans$/m);
    expect(told('/status', 'open').text).not.toContain('Name:');
  });

  test('before the first message too', () => expect(told('/think').text).toMatch(/^Thinking: default/));
});

test('/usage tells the tokens and the cost of the session', () => {
  expect(told('/usage', 'post m1', 'reply m1/1 1').text).toMatch(
    /^Model: openai\/gpt-5\nTokens: [1-9]\d*, of them \d+ input and \d+ output\nTurns: 1, messages: \d+\nContext: .*\nCost: not reported by the provider$/,
  );
});

test('B20: /export says how to get the session', () => {
  expect(told('/export').text).toContain('natter export agent:main:main --markdown --out chat.md');
  expect(told('/export notes.md').text).toContain('/v1/sessions/agent%3Amain%3Amain/messages');
});

test('/help has a line for each command', () => {
  const words = chatCommandLines.map(([usage]) => /^\/(\w+)/.exec(usage)?.[1] ?? usage);
  const reserved = [...reservedCommands([])].filter((word) => word !== 'reset' && word !== 'skill');
  expect([...words].sort()).toEqual(reserved.sort());
  expect(told('/help').text.split('\n')).toHaveLength(words.length);
});
