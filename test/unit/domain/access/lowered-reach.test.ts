import { describe, expect, test } from 'vitest';
import { canAccess, mayChange, type Principal, principalOf, seesAll } from '../../../../shared/domain/access/access.ts';
import { loweredReach, roleOf } from '../../../../shared/domain/access/lowered-reach.ts';
import { identitiesOf } from '../../../../shared/domain/keys/identity.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { roles } from '../../../../shared/domain/values/role.ts';

const callers: readonly Principal[] = [
  { role: 'owner', admin: true },
  { role: 'owner' },
  { role: 'read-only' },
  { role: 'approver', namespace: 'telegram' },
  { role: 'participant', principal: 'telegram:1' },
  { role: 'channel', namespace: 'telegram' },
];
const identities = identitiesOf({});
const sessions = ['agent:main:telegram:dm:1', 'agent:main:irc:dm:2'].map((key) => ({
  key: key as SessionKey,
  participants: ['telegram:1'],
  deletedSeq: 0,
}));

describe('a derived token (I12)', () => {
  test.each(callers)('of $role sees and changes no more than its parent', (caller) => {
    expect(loweredReach(caller)?.role).toBe(roleOf(caller));
    for (const role of roles) {
      const reach = loweredReach(caller, role);
      if (reach === null) continue;
      const derived = principalOf(reach);
      for (const session of sessions)
        if (canAccess(derived, session, identities)) expect(canAccess(caller, session, identities)).toBe(true);
      for (const change of ['sessions', 'approvals'] as const)
        if (mayChange(derived, change)) expect(mayChange(caller, change)).toBe(true);
      if (seesAll(derived)) expect(seesAll(caller)).toBe(true);
      expect('admin' in derived ? 'admin' in caller : true).toBe(true);
    }
  });

  test('B23: a link is handed on as it is, and nobody makes one of another role', () => {
    const viewer: Principal = { role: 'viewer', sessionKey: 'agent:main:main' as SessionKey, deletedSeq: 0 };
    for (const role of roles) expect(loweredReach(viewer, role)).toBeNull();
    for (const caller of callers) expect(loweredReach(caller, 'viewer')).toBeNull();
  });
});
