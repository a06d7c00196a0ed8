import { expect, test } from 'vitest';
import { sessionMarkdown } from '../../../../shared/domain/projections/session-markdown.ts';
import { subAgentMessage } from '../../../../shared/domain/prompt/sub-agent-message.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { tell } from '../../../support/domain/given.ts';

/** What a person reads in a file of a session, whether the page or the terminal wrote it. */

test('an answer that failed and a fork are told where they were', () => {
  const { commits } = tell('post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1', 'fork s2 2', 'append m3');
  const { text, messages } = sessionMarkdown(commits, undefined);
  const [before = '', after = ''] = text.split('\n---\n');
  expect(before).toMatch(/\n\*\(failed: .+\)\*\n$/);
  expect(after).toMatch(/^\n\*\(Forked from commit 2: what follows goes on from there\)\*\n/);
  expect(after).toContain('## ');
  expect(messages).toBe(4);
});

test.each([
  ['an edit', 'fork', 'another text', 'Edited from commit 2: what follows goes on from there'],
  ['a second try', 'fork', 'another answer', 'Tried again from commit 2: what follows goes on from there'],
  ['a first message that was edited', 'reset', 'another text', 'Begun again with the first message changed'],
])('%s is told in the words of the page', (_, kind, rule, words) => {
  const { commits } = tell('post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'fork s2 2');
  const asked = commits.map((commit) => ({
    ...commit,
    events: commit.events.map((event) => {
      if (event.type !== 'session_reset') return event;
      const { forkedFrom: _from, ...reset } = event;
      const cause = { trigger: kind === 'fork' ? ('fork' as const) : ('api' as const), rule };
      return kind === 'fork' ? { ...event, cause } : { ...reset, cause };
    }),
  }));
  expect(sessionMarkdown(asked, undefined).text).toContain(`---\n\n*(${words})*\n`);
});

test('the file begins with the name of the session and its key, whatever the name contains', () => {
  const { commits } = tell('post m1', 'reply m1/1 1');
  const head = (name?: string) => sessionMarkdown(commits, undefined, name).text.split('\n').slice(0, 4);
  expect(head()).toEqual(['# test', '', 'Session `agent:main:test`', '']);
  expect(head('Garden\n# plan')[0]).toBe('# Garden # plan');
  const named = tell('post m1', 'reply m1/1 1', 'set displayName Garden').commits;
  expect(sessionMarkdown(named, undefined).text).toMatch(/^# Garden\n/);
  expect(sessionMarkdown([], undefined).text).toBe('\n');
});

test.each<[string, readonly string[], boolean]>([
  ['that has just begun', ['post m1'], true],
  ['that was given', ['post m1', 'reply m1/1 1'], false],
  ['that failed', ['post m1', 'fail m1/1 1'], false],
  ['that begins after another', ['post m1', 'reply m1/1 1', 'post m2'], true],
])('an answer %s is marked as under way, or not', (_, said, isMarked) => {
  const { text } = sessionMarkdown(tell(...said).commits, undefined);
  expect(text.endsWith('\n\n*(the answer was under way)*\n')).toBe(isMarked);
});

test('a message names its files below its text', () => {
  const message = { messageId: 'm1', text: 'look', sender: { id: 'ann' }, attachments: [{ name: 'a.png' }] };
  const commit = { seq: 1, rev: 1, at: 0, actor: 'a', events: [{ type: 'user_message', message }] } as unknown as RecordedCommit;
  expect(sessionMarkdown([commit], undefined).text).toContain('\n\nlook\n\n[Attached: a.png]\n');
});

test.each([
  [{ runId: 'AZx_-9', text: 'Twelve\nseeds' }, 'Twelve\nseeds'],
  [{ runId: 'AZx_-9', text: '' }, 'Ended without an answer.'],
  [{ text: 'I count' }, 'I count'],
])('what a sub-agent says is told without its ids: %o', (given, expected) => {
  const key = 'agent:main:subagent:1-2';
  const said = (sender: object) => {
    const message = { messageId: 'm1', text: subAgentMessage({ key, ...given }), sender };
    const commit = { seq: 1, rev: 1, at: 0, actor: 'a', events: [{ type: 'user_message', message }] };
    return sessionMarkdown([commit as unknown as RecordedCommit], undefined, 'x').text;
  };
  expect(said({ id: key, role: 'program' })).toContain(`## Sub-agent, 1970-01-01T00:00:00.000Z\n\n${expected}\n`);
  // A person may quote it.
  expect(said({ id: key, role: 'owner' })).toContain('[The sub-agent');
});
