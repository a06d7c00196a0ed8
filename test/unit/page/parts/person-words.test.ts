import { expect, test } from 'vitest';
import { eventSummary } from '../../../../services/page/parts/person-words.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { personNamed } from '../../../../shared/domain/values/person-words.ts';

const me = 'token:page:owner:abc';
const program = { id: 'api', role: 'program' } as const;

test.each([
  [me, 'You', program],
  [me, 'You', { ...program, name: 'Owner' }],
  // Another tab of the same person has a token of its own.
  ['token:page:owner:xyz', 'You', { ...program, name: 'Owner' }],
  ['token:page:owner:xyz', 'You', program],
  ['token:page:phone:xyz', 'phone, on the page', program],
  ['token:api', 'Owner, over the API', program],
  ['token:phone', 'phone, over the API', program],
  // What an export of an older version says of nobody.
  [undefined, 'A program (API)', program],
  [me, 'Ann', { id: 'telegram:1', name: 'Ann' }],
  // The greeting after a reset, whoever asked for that; and somebody on a channel who is called so.
  [me, 'Natter', { id: 'natter', role: 'program' as const }],
  ['channel', 'natter', { id: 'natter', role: 'participant' as const }],
  ['delivery', 'Sub-agent', { id: 'agent:main:subagent:1-2', role: 'program' as const }],
  ['tool:sessions_send', 'Another session', { id: 'agent:main:garden', role: 'program' as const }],
  ['channel', 'agent:main:subagent:1-2', { id: 'agent:main:subagent:1-2', role: 'participant' as const }],
])('what %s says is said by: %s', (actor, name, sender) => {
  expect(personNamed(sender, actor, me)).toBe(name);
  const said = { type: 'user_message', message: { text: 'hello', sender } } as unknown as SessionEvent;
  expect(eventSummary(said, actor, me)).toBe(`${name}: hello`);
});

test.each([
  ['token:page:phone:a', 'token:page:phone:b', 'You'],
  ['token:page:owner:a', 'token:page:phone:b', 'Owner'],
  // Two approvers may be two people.
  ['token:page:approver:a', 'token:page:approver:b', 'an approver, on the page'],
  ['token:page:owner:a', undefined, 'Owner'],
])('what %s says is for %s said by: %s', (actor, reader, name) => {
  expect(personNamed(program, actor, reader)).toBe(name);
});

test('an answer that allows a call says so', () => {
  const allowed = { type: 'approval_resolved', verdict: 'granted', by: me } as SessionEvent;
  expect(eventSummary(allowed, me, me)).toBe('allowed by you');
});

test.each([
  [me, 'denied by you'],
  ['token:page:owner:xyz', 'denied by you in another sign-in'],
  ['token:page:phone:xyz', 'denied by phone, on the page'],
  ['token:api', 'denied by the owner, over the API'],
])('an answer of %s is: %s', (by, words) => {
  expect(eventSummary({ type: 'approval_resolved', verdict: 'denied', by } as SessionEvent, by, me)).toBe(words);
});

test('a message names its files', () => {
  const message = { text: 'look', sender: program, attachments: [{ name: 'a.png' }] };
  expect(eventSummary({ type: 'user_message', message } as SessionEvent, me, me)).toBe('You: look [Attached: a.png]');
});
