import { describe, expect, test } from 'vitest';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { questionOf } from '../../../../shared/domain/routing/approval-text.ts';
import { commandForChat } from '../../../../shared/domain/routing/chat-answer.ts';
import { chatCommandIn } from '../../../../shared/domain/routing/chat-command.ts';
import { sessionCommand } from '../../../../shared/domain/session/commands.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { routed } from './support.ts';

const deliverTo = { channel: 'telegram', to: '42' };
const ada: Sender = { id: '42', role: 'participant', principal: 'ada' };

/** The session command that a text of Ada's becomes; it is one that a session would take from the wire. */
const said = (text: string) => {
  const chat = chatCommandIn(text, { triggers: [] });
  if (chat === null) throw new Error(`"${text}" is no chat command`);
  const command = commandForChat(chat, {
    key: 'agent:main:main' as SessionKey,
    occasion: { sessionId: 's2' },
    sender: ada,
    mayChange: true,
    deliverTo,
    messageId: 'm1',
    config: configSchema.parse({}),
    at: 0,
  });
  expect(sessionCommand.parse(command)).toEqual(command);
  return command;
};
const answer = { type: 'resolve_approval', approvalId: 'k3x9', by: ada, notice: { code: 'approval', deliverTo } };

describe('answers to an approval', () => {
  test.each([
    ['A5/62: once, unless it is said', '/approve k3x9', { ...answer, verdict: 'granted', scope: 'once' }],
    ['A5/62: for good', '/approve k3x9 always', { ...answer, verdict: 'granted', scope: 'always' }],
    ['A5/62: no', '/deny k3x9', { ...answer, verdict: 'denied' }],
    ['A5/62: no, and why', '/deny k3x9 too late', { ...answer, verdict: 'denied', reason: 'too late' }],
    ['A11/126: a summary', '/compact', { type: 'compact', notice: { code: 'compacted', deliverTo } }],
    [
      'A7/81: an introspection',
      '/checkpoint',
      { type: 'request_checkpoint', why: { reason: 'manual' }, notice: { code: 'checkpoint', deliverTo } },
    ],
    [
      'A11/126: a summary with instructions',
      '/compact keep names',
      { type: 'compact', instructions: 'keep names', notice: { code: 'compacted', deliverTo } },
    ],
  ])('%s', (_, text, expected) => expect(said(text)).toEqual(expected));

  test.each([
    ['A5/62: without an id it says how', '/approve', 'Write /approve ID', 'approval_misspelt'],
    ['A5/62: the same of /deny', '/deny', 'Write /deny ID', 'approval_misspelt'],
    ['A5/62: a reason that is too long denies nothing', `/deny k3x9 ${'x'.repeat(2_001)}`, 'Nothing was denied', 'too_long'],
    ['A11/126: instructions that are too long', `/compact ${'x'.repeat(2_001)}`, 'Nothing was compacted', 'too_long'],
  ])('%s', (_, text, part, code) => {
    expect(said(text)).toEqual({ type: 'post_notice', notice: { code, text: expect.stringContaining(part), deliverTo } });
  });

  test('A5/62: what the question says to write is understood', () => {
    const turn = { id: 't', attempt: 1 };
    const request = { v: 1, turn, approvalId: 'k3x9', action: 'run make', expiresAt: 0 } as const;
    const text = questionOf({ type: 'approval_requested', ...request }, null);
    const told = [...text.matchAll(/"(\/[^"]+)"/g)].map(([, words = '']) => chatCommandIn(words, { triggers: [] }));
    expect(told).toEqual([
      { type: 'approve', approvalId: 'k3x9', scope: 'once' },
      { type: 'approve', approvalId: 'k3x9', scope: 'always' },
      { type: 'deny', approvalId: 'k3x9', reason: '' },
    ]);
  });
});

describe('who answers', () => {
  const by = (change: Record<string, unknown>, settings = {}) => {
    const { data } = routed({ text: '/approve k3x9', ...change }, settings);
    return data.type === 'resolve_approval' ? data.by : data.type;
  };
  const direct = { conversation: { id: '42', kind: 'direct' } };
  const owners = { agent: { owners: ['telegram:42'] } };

  test.each<[string, Record<string, unknown>, object, unknown]>([
    ['A5/62: the sender, as the router knows them', direct, {}, { id: '42', role: 'participant', principal: 'telegram:42' }],
    [
      'A5/66: under their linked name',
      direct,
      { session: { identityLinks: { ada: ['telegram:42'] } } },
      { id: '42', role: 'participant', principal: 'ada' },
    ],
    ['A5/62: the owner', direct, owners, { id: '42', role: 'owner', principal: 'telegram:42' }],
    [
      'A5/62: an envelope makes nobody the owner, nor somebody else',
      { ...direct, sender: { id: '13', name: 'ada', role: 'owner', principal: 'telegram:42' } },
      owners,
      { id: '13', name: 'ada', role: 'participant', principal: 'telegram:13' },
    ],
    [
      'A5/62: a program has no more rights than it is given',
      { ...direct, sender: { id: '13', role: 'program', principal: 'telegram:42' } },
      owners,
      { id: '13', role: 'program', principal: 'telegram:13', onBehalfOf: 'participant' },
    ],
    ['A6/75: in a group only who is addressed or owns the agent', {}, {}, 'append_message'],
    ['A6/73: the owner in a group', {}, owners, { id: '42', role: 'owner', principal: 'telegram:42' }],
    ['A6/74: who addresses the agent', { mentioned: true }, {}, { id: '42', role: 'participant', principal: 'telegram:42' }],
  ])('%s', (_, change, settings, expected) => expect(by(change, settings)).toEqual(expected));
});
