import { subjectsUnder } from '../../../shared/wire/subjects.ts';

/** Values that the examples of the OpenAPI document share: one small group chat. A test checks each example against its schema. */

export const at = Date.UTC(2026, 0, 5, 9);
export const key = 'agent:main:telegram:group:-100123';
export const sessionId = '0199f0bd-1d52-7a3e-8c41-6a1a1b0c9d20';
export const runId = '0199f0c1-6b7e-7c55-9f0a-2f6a1f0f3b10';
export const messageId = 'telegram-5512';
export const sender = { id: 'telegram:42', role: 'participant', name: 'Ann' } as const;

export const takenSample = { runId, status: 'ok', outcome: 'accepted', seq: 42, rev: 7 };
export const begun = { runId, status: 'accepted', duplicate: false };
export const scheduledSample = {
  ...{ runId, sessionKey: key, sendAt: at, actor: 'token:telegram', command: 'post_message', text: 'Is the build green?' },
};
export const runSample = { runId, status: 'ok', reply: 'The build is green.' };

export const sessionRow = {
  ...{ key, shownKey: 'telegram:group:-100123', sessionId, generation: 1, status: 'idle', source: null },
  ...{ createdAt: at - 3_600_000, updatedAt: at, interactedAt: at, seq: 42, rev: 7 },
  ...{ messageCount: 2, completedTurns: 1, failedTurns: 0, refusedMessages: 0, queuedTurns: 0, activeTurnId: null },
  ...{
    approval: null,
    costUsd: 0.0021,
    firstWords: 'Is the build green?',
    lastMessagePreview: 'The build is green.',
    participants: ['telegram:42'],
  },
  ...{ inputTokens: 812, outputTokens: 9, totalTokens: 821, contextTokens: 821, model: 'openai/gpt-5' },
  ...{ systemSent: true, abortedLastRun: false, failedLastRun: false },
  ...{ description: '', descriptionSource: null, workingMemory: '' },
  ...{ introspectedAt: 0, settings: {}, origin: { label: 'build room', provider: 'telegram' }, lastRoute: null },
  ...{ deleted: false, deletedSeq: 0, queueMode: 'followup', unread: false },
};

const userMessage = {
  ...{ type: 'user_message', v: 1 },
  message: { messageId, text: 'Is the build green?', sender },
  turnId: runId,
};
export const commit = {
  ...{
    v: 2,
    id: 'c-41',
    prev: 'n4bQgYhMfWWaL-qgxVrQFQ',
    key,
    sessionId,
    rev: 6,
    epoch: 0,
    at,
    correlationId: runId,
    causationId: runId,
    actor: 'token:telegram',
    host: 'session-7f3a',
  },
  ...{
    command: { id: runId, seq: 12, incarnation: null },
    events: [userMessage],
    seq: 41,
    recordedAt: at,
    digest: 'YwKBn0wIEqZDrZWgVTyhjw',
  },
};
export const damageSample = {
  key,
  gaps: [{ reason: 'missing', fromRev: 3, toRev: 3, afterSeq: 17, beforeSeq: 31 }],
  ...{ lastRev: 6, lastSeq: 41, known: { rev: 6, at, sessionId: 's-1', messages: 4 } },
};
export const storedCommit = { seq: 41, recordedAt: at, bytes: 'jqF2AqJpZKRjLTQx' };
export const event = {
  ...{ id: '41.0', seq: 41, index: 0, rev: 6, key, sessionId, at, correlationId: runId },
  ...{ actor: 'token:telegram', host: 'session-7f3a' },
  ...userMessage,
};
export const page = { next: '42', more: false };

export const approvalId = 'k3x9';
export const memory = {
  ...{ id: '57-0', scope: 'person:main:telegram:42', text: 'Ann prefers short answers.', createdAt: at, updatedAt: at },
  source: { key, seq: 57, sessionId, fromRev: 1, toRev: 7, by: 'introspection' },
};
export const deadLetter = {
  ...{ seq: 17, id: 'NATTER_INBOUND-1767603600000-4711', service: 'router', at, size: 212 },
  ...{ reason: 'conversation.id: is too long', subject: subjectsUnder('natter').inbound('telegram', '-100123') },
};
export const delivery = {
  ...{ seq: 18, state: 'unknown', outboundId: '42.1', sessionKey: key, target: { channel: 'telegram', to: '-100123' } },
  ...{ kind: 'assistant_message', detail: 'no answer within 10000 ms', at },
} as const;
export const eventDelivery = {
  ...{ outboundId: '42.1', kind: 'assistant_message', target: { channel: 'telegram', to: '-100123' } },
  ...{ state: 'delivered', attempt: 1, at: at + 240, messageIds: ['5513'] },
} as const;
export const deliveredMessage = {
  ...{ seq: 1_204, outboundId: '42.1', sessionKey: key, target: { channel: 'telegram', to: '-100123' } },
  ...{ attempt: 1, at: at + 240, messageIds: ['5513'] },
} as const;
export const waitingDelivery = {
  ...{ channel: 'telegram', to: '-100123', state: 'waiting', until: at + 3_600_000 },
  ...{ detail: 'the receiver asked to wait (HTTP 429)', attempts: 3, sessionKey: key },
} as const;
export const parkedAccount = {
  ...{ channel: 'telegram', state: 'parked', detail: 'HTTP 401', until: at + 1_800_000, attempts: 2, sessionKey: key },
} as const;
export const pairingRequest = {
  ...{ channel: 'telegram', senderId: '4711', name: 'Ann', code: '7KQ2M9XA', requestedAt: at, expiresAt: at + 3_600_000 },
};
export const pairedSender = { channel: 'telegram', senderId: '4711', name: 'Ann', pairedAt: at, by: 'token:api' };
export const token = {
  ...{ id: 'a1b2c3d4e5f6', role: 'read-only', label: 'dashboard', createdAt: at, createdBy: 'token:api', status: 'active' },
};
export const newToken = { token: 'a1b2c3d4e5f6.natter_…', ...token };
