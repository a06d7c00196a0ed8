import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Audit } from '../../../../services/gateway/context/audit.ts';
import { openInMemory } from '../../../../shared/adapters/in-memory/open.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../../shared/domain/session/commands.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';

/** What of a session's commands is in the audit trail, for whoever asks later who gave it. */

const key = 'agent:main:trips' as SessionKey;
const from = { sessionId: 's', seq: 40, rev: 12, contextSeq: 40, skips: [] };
const by = { id: 'token:api', role: 'owner' } as const;
const message = { messageId: 'm', text: 'words that were said', sender: { id: 'api', role: 'program' } } as const;

const commands: readonly (readonly [string, SessionCommand, object | null])[] = [
  [
    'a reset',
    { type: 'reset', sessionId: 't', cause: { trigger: 'api', rule: 'tidying up' } },
    { kind: 'session_reset', detail: 'reason: tidying up' },
  ],
  [
    'a reset that is typed, without its message',
    { type: 'reset', sessionId: 't', cause: { trigger: 'command', rule: '/new' }, message },
    { kind: 'session_reset', detail: 'reason: /new' },
  ],
  ['a fork', { type: 'fork', sessionId: 't', from }, { kind: 'session_forked', detail: 'commit: 12' }],
  [
    'an edit',
    { type: 'fork', sessionId: 't', from, reason: 'another text' },
    { kind: 'session_forked', detail: 'commit: 12, reason: another text' },
  ],
  [
    'a deletion',
    { type: 'delete_session', mode: 'key', reason: 'over' },
    { kind: 'session_deleted', detail: 'mode: key, reason: over' },
  ],
  [
    'a denial, whose reason is said to the agent',
    { type: 'resolve_approval', approvalId: 'k3x', verdict: 'denied', by, reason: 'words that were said' },
    { kind: 'approval_answered', detail: 'approvalId: k3x, verdict: denied' },
  ],
  ['no message', { type: 'post_message', sessionId: 't', message }, null],
];

test.each(commands)('%s', async (_, data, recorded) => {
  const { audit: trail } = openInMemory({ clock: systemClock }).portsFor('gateway');
  const audit = new Audit({ log: pino({ level: 'silent' }), clock: systemClock, trail });
  const envelope = { id: 'c', key, at: 1, correlationId: 'c', causationId: 'r', actor: 'token:phone', data };
  audit.command(envelope, '127.0.0.1', 77);
  await audit.close();
  const { records } = await trail.page({ limit: 10 });
  const whole = { actor: 'token:phone', address: '127.0.0.1', target: key, outcome: 'ok', commitSeq: 77 };
  expect(records).toMatchObject(recorded === null ? [] : [{ ...whole, ...recorded }]);
  expect(JSON.stringify(records)).not.toContain('words that were said');
});
