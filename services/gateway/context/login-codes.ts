import { loweredReach, roleOf } from '../../../shared/domain/access/lowered-reach.ts';
import type { Role } from '../../../shared/domain/values/role.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Tokens } from '../../../shared/ports/access/tokens.ts';
import type { Callers, TokenBearer } from './callers.ts';
import { OneTimeSecrets } from './one-time-secrets.ts';

/** How long a code can be used. */
const codeMs = 60_000;
/** Stands where a ticket has its path. No ticket has this path or a role, so that neither can be used as the other. */
const path = 'page';

/** Who a code signs in, and with which role. */
export interface CodeBearer {
  readonly parent: TokenBearer;
  readonly role: Role;
}

/**
 * One-time codes that sign the page in (`natter open`): they ride in the fragment of an address, for 60 s, and are kept beside the tickets.
 */
export class LoginCodes {
  readonly #secrets: OneTimeSecrets;
  readonly #callers: Callers;

  constructor(tokens: Tokens, clock: Clock, callers: Callers) {
    const perMinute = (): number => limits.loginsPerMinute;
    this.#secrets = new OneTimeSecrets({ tokens, clock, callers, lifeMs: codeMs, perMinute, plural: 'codes' });
    this.#callers = callers;
  }

  /** Throws `NatterError('forbidden')` for a role that may do more than the caller, and `'overloaded'` above the rate limit. */
  async issue(bearer: TokenBearer, wanted?: Role): Promise<{ code: string; expiresAt: number; role: Role }> {
    const role = wanted ?? roleOf(bearer.principal);
    const { secret: code, expiresAt } = await this.#secrets.issue(bearer, () => {
      this.#refuseMore(bearer, role);
      return { path, role };
    });
    return { code, expiresAt, role };
  }

  #refuseMore({ actor, principal }: TokenBearer, role: Role): void {
    if (loweredReach(principal, role) === null)
      throw new NatterError('forbidden', `role: a token of role "${roleOf(principal)}" cannot sign in as "${role}"`, {
        field: 'role',
      });
    if (this.#callers.isDerived(actor))
      throw new NatterError('forbidden', 'a page cannot sign in another one; use the token that it was opened with');
  }

  /** Uses a code up. Throws `NatterError('unauthorized')`, and `'overloaded'` for an address with too many wrong codes. */
  async redeem(code: string, ip: string): Promise<CodeBearer> {
    const bearer = await this.#secrets.redeem(code, ip, (kept, parent) =>
      kept.role !== undefined && loweredReach(parent.principal, kept.role) ? { parent, role: kept.role } : null,
    );
    if (bearer !== null) return bearer;
    throw new NatterError('unauthorized', 'this code has been used or is too old; run "natter open" for a new one', {
      field: 'code',
    });
  }
}
