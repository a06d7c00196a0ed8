import type { Role } from '../values/role.ts';
import type { Principal, Reach } from './access.ts';

/** The roles that a token of each role may hand on for a while, its own first: never one that sees or changes more. A link is handed on as it is. */
const lower: Readonly<Record<Role, readonly Role[]>> = {
  admin: ['admin', 'owner', 'read-only', 'approver'],
  owner: ['owner', 'read-only', 'approver'],
  'read-only': ['read-only'],
  approver: ['approver'],
  participant: ['participant'],
  channel: ['channel'],
  viewer: [],
};

/** The role of a principal, as tokens name it. */
export const roleOf = (principal: Principal): Role => (principal.role === 'owner' && principal.admin ? 'admin' : principal.role);

/**
 * What a token derived from this caller's may do: the same, or what the role `wanted` may, within the same limits. `null` if that role would
 * see or change more than the caller.
 */
export const loweredReach = (caller: Principal, wanted: Role = roleOf(caller)): Reach | null => {
  const role = roleOf(caller);
  if (!lower[role].includes(wanted)) return null;
  const principal = 'principal' in caller ? caller.principal : undefined;
  const namespace = 'namespace' in caller ? caller.namespace : undefined;
  return { role: wanted, ...(principal !== undefined && { principal }), ...(namespace !== undefined && { namespace }) };
};
