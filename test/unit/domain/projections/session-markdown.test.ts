import { expect, test } from 'vitest';
import { sessionMarkdown } from '../../../../shared/domain/projections/session-markdown.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { tell } from '../../../support/domain/given.ts';

/** What a person reads in a file of a session, whether the page or the terminal wrote it. */

test('an answer that failed and a fork are told where they were', () => {
  const { commits } = tell('post m1', 'reply m1/1 1', 'post m2', 'fail m2/1 1', 'fork s2 2', 'append m3');
  const { text, messages } = sessionMarkdown(commits, undefined);
  const [before = '', after = ''] = text.split('\n---\n');
  expect(before).toMatch(/\n\*\(failed: .+\)\*\n$/);
  expect(after).toMatch(/^\n\*\(forked: what follows goes on from commit 2\)\*\n/);
  expect(after).toContain('## ');
  expect(messages).toBe(4);
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
