import { expect, test } from 'vitest';
import { summaryOf } from '../../../../shared/domain/projections/event-summary.ts';
import { subAgentMessage } from '../../../../shared/domain/prompt/sub-agent-message.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';

const reset = (fields: object): string =>
  summaryOf({ type: 'session_reset', generation: 2, reason: 'said so', ...fields } as SessionEvent, (text) => text);
const idle = { trigger: 'idle', rule: 'session.reset', lastUpdateAt: 1_000, boundaryAt: 1_000 + 90 * 60_000 };

test.each([
  [reset({ cause: idle }), 'idle for over 90 min: session.reset'],
  [reset({ cause: { trigger: 'command', rule: '/new' } }), 'by a chat command: /new'],
  [reset({ forkedFrom: { rev: 14, seq: 18 } }), 'from commit 14'],
  [reset({ cause: { trigger: 'api', rule: 'tidying up' } }), 'by request: tidying up'],
  [reset({ cause: { trigger: 'api', rule: 'another text' } }), 'Begun again with the first message changed'],
  [reset({}), 'said so'],
])('a reset says why: %s', (found, expected) => {
  expect(found).toBe(expected);
});

test.each([
  [{ model: 'acme/turbo-9' }, 'model: acme/turbo-9'],
  [{ thinkingLevel: null, pinned: true }, 'thinking level: as configured, pinned: yes'],
  [{ labels: ['home', 'travel'], icon: '🌱' }, 'labels: home, travel, icon: 🌱'],
  [{ metadata: { topic: 'fish', old: null } }, 'metadata: topic fish, old removed'],
])('changed settings are words: %j', (changes, expected) => {
  expect(summaryOf({ type: 'settings_changed', changes } as SessionEvent, (text) => text)).toBe(expected);
});

test.each([
  [{ type: 'session_opened', generation: 1, sessionId: 's1' }, ''],
  [{ type: 'turn_started', attempt: 2 }, 'attempt 2'],
  [{ type: 'tool_call_started', tool: 'exec', callId: 'm1.1.0', callAttempt: 1 }, 'exec'],
])('no ids and no counts of what is usual: %j', (event, expected) => {
  expect(summaryOf(event as unknown as SessionEvent, (text) => text)).toBe(expected);
});

test.each([
  ['look', 'Ann: look [Attached: a.png, a file]'],
  ['', 'Ann: [Attached: a.png, a file]'],
])('a message names its files after its text: %j', (text, expected) => {
  const message = { text, sender: { id: 'ann', name: 'Ann' }, attachments: [{ name: 'a.png' }, {}] };
  expect(summaryOf({ type: 'user_message', message } as SessionEvent, (each) => each)).toBe(expected);
});

test('a message of a sub-agent is told without its ids', () => {
  const sender = { id: 'agent:main:subagent:1', role: 'program', name: 'Sub-agent' };
  const text = subAgentMessage({ key: 'agent:main:subagent:1', runId: 'r1', text: 'seven issues' });
  const event = { type: 'user_message', message: { text, sender } } as unknown as SessionEvent;
  expect(summaryOf(event, (each) => each)).toBe('Sub-agent: seven issues');
});
