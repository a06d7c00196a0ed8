import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { factsOf } from '../../../../shared/domain/routing/report-facts.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { reportText } from '../../../../shared/domain/session/report/report-text.ts';
import { type ReportFacts, reportFacts } from '../../../../shared/domain/session/report-facts.ts';
import { command, stateAfter } from '../../../support/domain/given.ts';

type Kind = ReportFacts['kind'];
const facts = (kind: Kind, change: Partial<ReportFacts> = {}): ReportFacts => ({
  kind,
  model: 'openai/gpt-5',
  parts: [{ name: 'system prompt', characters: 400 }],
  windowTokens: 200,
  queueMode: 'collect',
  warnings: [],
  ...change,
});
const linesAfter = (given: ReportFacts, ...history: (string | CommandEnvelope)[]): string[] =>
  reportText(given, stateAfter(...history), 100).split('\n');
const line = (lines: readonly string[], start: string): string | undefined => lines.find((text) => text.startsWith(start));

/** A step with usage of its own. */
const step = (row: string, usage: object): CommandEnvelope => {
  const { data, ...envelope } = command(row);
  if (data.type !== 'record_step' || data.outcome.kind === 'failed') throw new Error(row);
  return { ...envelope, data: { ...data, outcome: { ...data.outcome, usage: { ...data.outcome.usage, ...usage } } } };
};

describe('A11/123: /status', () => {
  test.each<[string, CommandEnvelope | string, Partial<ReportFacts>, string]>([
    ['what the provider counted', 'reply m1/1 1', {}, 'Context: 5 of 200 tokens (3%), counted by the provider; '],
    ['what was estimated', step('reply m1/1 1', { estimated: true }), {}, 'Context: 5 of 200 tokens (3%), estimated; '],
    ['the window of this very model', 'reply m1/1 1', { windows: { 'openai/gpt-5': 10 } }, 'Context: 5 of 10 tokens (50%), '],
    ['no share of a window that nobody knows', 'reply m1/1 1', { windowTokens: undefined }, 'Context: 5 tokens; 5 used'],
  ])('A1/3: says how full the window is and who says so: %s', (_, reply, change, expected) => {
    expect(line(linesAfter(facts('status', change), 'post m1', reply), 'Context')?.startsWith(expected)).toBe(true);
  });

  test('A11/126: after a compaction the context is an estimate, until the next step', () => {
    const story = ['post m1', 'continue m1/1 1', 'compacted m1/1 2 4'];
    const lines = linesAfter(facts('status'), ...story);
    expect([line(lines, 'Context'), line(lines, 'Compactions')]).toEqual([
      'Context: 10 of 200 tokens (5%), estimated; 10 used in 0 turns, 1 message',
      'Compactions: 1',
    ]);
    expect(line(linesAfter(facts('status'), ...story, 'continue m1/1 2'), 'Context')).toContain('counted by the provider');
  });

  test('B6: says how many wait, and what a message does that finds a turn running', () => {
    expect(linesAfter(facts('status'), 'post m1', 'post m2', 'post m3')).toContain(
      'Waiting: 2 messages. One that arrives while a turn runs: it waits, and is answered together with the others that wait (queue mode collect)',
    );
  });

  test('A5/62: says what waits for a person, and until when', () => {
    const lines = linesAfter(facts('status'), 'post m1', 'ask m1/1 p1 60000');
    expect(lines).toContain('Approval pending: p1, until 1970-01-01 00:01 UTC: send mail');
    expect(lines[1]).toContain('awaiting approval');
  });

  test('A11/125: names the runs that the session began', () => {
    const lines = linesAfter(facts('status'), 'post m1', 'call m1/1 1 sessions_spawn spawn');
    expect(lines).toContain('Spawned runs: agent:main:subagent:1');
  });

  test('says what it has cost, where the provider says so', () => {
    const lines = linesAfter(facts('status'), 'post m1', step('continue m1/1 1', { costUsd: 0.0125 }));
    expect(line(lines, 'Cost')).toBe('Cost: 0.0125 US dollars, as reported by the provider');
    expect(line(linesAfter(facts('status'), 'post m1', 'reply m1/1 1'), 'Cost')).toBeUndefined();
  });
});

describe('A11/124: /context', () => {
  test('tells what the last model step was given, biggest first; before there was one what the configuration knows', () => {
    const before = linesAfter(facts('context_detail'), 'post m1');
    expect(before.slice(0, 2)).toEqual([
      'System prompt: 400 characters, about 100 tokens, in 1 parts',
      '- system prompt: 400 characters, about 100 tokens',
    ]);
    const after = linesAfter(facts('context_detail'), 'post m1', 'prompted m1/1 1 base workspace-files tools');
    expect(after.slice(0, 4)).toEqual([
      'System prompt: 24 characters, about 6 tokens, in 3 parts',
      '- workspace-files: 15 characters, about 4 tokens',
      '- tools: 5 characters, about 2 tokens',
      '- base: 4 characters, about 1 tokens',
    ]);
  });

  test('tells the same of the window as /status', () => {
    const story = ['post m1', 'reply m1/1 1'];
    const use = '5 of 200 tokens (3%), counted by the provider';
    expect(line(linesAfter(facts('status'), ...story), 'Context')).toContain(use);
    expect(line(linesAfter(facts('context_list'), ...story), 'Conversation')).toContain(use);
  });
});

describe('what the configuration knows of a report', () => {
  const known = (settings: object, channel?: string): ReportFacts => {
    const given = {
      key: 'agent:main:main' as SessionKey,
      config: configSchema.parse(settings),
      at: 0,
      sender: { id: 'olga', role: 'owner' as const },
      occasion: { sessionId: 's1' },
      ...(channel && { channel }),
    };
    const made = factsOf('status', given);
    expect(reportFacts.parse(made)).toEqual(made);
    return made;
  };
  const providers = { openai: { kind: 'openai-compatible', windows: { small: 8_000, big: 400_000 } } };

  test.each([
    ['of the configuration', {}, 128_000],
    ['of the model', { agent: { model: 'openai/big' }, model: { providers } }, 400_000],
    ['of its smallest stand-in', { agent: { model: 'openai/big', fallbacks: ['openai/small'] }, model: { providers } }, 8_000],
  ])('A1/3: the window is that %s', (_, settings, expected) => {
    expect(known(settings).windowTokens).toBe(expected);
  });

  test('A4/54: windows of models that a session may have chosen', () => {
    expect(known({ model: { providers } }).windows).toEqual({ 'openai/small': 8_000, 'openai/big': 400_000 });
    expect(known({ model: { providers }, agent: { fallbacks: ['openai/x'] } }).windows).toEqual({
      'openai/small': 8_000,
      'openai/big': 128_000,
    });
  });

  test('B6: the queue mode is that of the channel', () => {
    const settings = { session: { queue: { mode: 'steer', byChannel: { irc: { mode: 'collect' } } } } };
    expect([known(settings).queueMode, known(settings, 'irc').queueMode]).toEqual(['steer', 'collect']);
  });
});
