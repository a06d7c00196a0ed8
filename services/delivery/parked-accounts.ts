import { isToResume, type ResumeRequest, type WaitingDelivery } from '../../shared/domain/values/delivery.ts';
import type { DeliveryTarget } from '../../shared/domain/values/types.ts';
import { type Backoff, backoffMs } from '../../shared/kit/backoff.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { SendResult } from '../../shared/ports/outlet.ts';
import { deliveryLimits } from './delivery-limits.ts';

/** The account that a message goes through: of several on a channel, the one that its conversation is with. */
export type Account = Pick<DeliveryTarget, 'channel' | 'accountId'>;

/** Identifies an account. Differs from the name of every conversation. */
export const accountName = ({ channel, accountId }: Account): string => JSON.stringify([channel, accountId ?? null]);

interface Parked extends Account {
  readonly since: number;
  readonly detail: string;
  readonly failures: number;
  /** When the next message may try whether the account works again, ms. */
  readonly until: number;
  readonly isTrying: boolean;
}

const probes: Backoff = { firstMs: deliveryLimits.probeMs, mostMs: deliveryLimits.probeMostMs };
/** How long the others wait for the outcome of the message that tries. */
const tryingMs = 1_000;

/**
 * The accounts that the platform lets nothing through for: a token was revoked, or a right is missing. Their messages wait. From time to
 * time one of them tries whether the account works again. A restart tries at once.
 */
export class ParkedAccounts {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Pick<Logger, 'error' | 'info'>;
  readonly #parked = new Map<string, Parked>();

  constructor(clock: Pick<Clock, 'now'>, log: Pick<Logger, 'error' | 'info'>) {
    this.#clock = clock;
    this.#log = log;
  }

  get size(): number {
    return this.#parked.size;
  }

  /** What operators read until the accounts work again. */
  warnings(): string[] {
    return [...this.#parked.values()].map(
      ({ channel, accountId, since, detail }) =>
        `${nameOf({ channel, accountId })} is parked since ${new Date(since).toISOString()}: ${detail}. Its messages wait; mend its credentials`,
    );
  }

  /** For lists of what waits. */
  waiting(): WaitingDelivery[] {
    return [...this.#parked.values()].map(({ channel, accountId, detail, until }) => ({
      ...{ channel, ...(accountId !== undefined && { accountId }), state: 'parked', detail, until },
    }));
  }

  /** `null` if a message of the account may be sent now, else when to ask again, in ms. The caller that may must call `tried`. */
  waitUntil(account: Account): number | null {
    const name = accountName(account);
    const parked = this.#parked.get(name);
    if (parked === undefined) return null;
    const now = this.#clock.now();
    if (parked.isTrying) return now + tryingMs;
    if (parked.until > now) return parked.until;
    this.#parked.set(name, { ...parked, isTrying: true });
    return null;
  }

  /** What became of a send, `null` if nothing did: parks the account or takes it up again. */
  tried(account: Account, result: SendResult | null): void {
    const name = accountName(account);
    const parked = this.#parked.get(name);
    const now = this.#clock.now();
    const failure = result?.kind === 'refused' ? result.failure : null;
    if (failure === 'auth' || failure === 'permission') {
      const { since = now, failures = 0 } = parked ?? {};
      const until = now + backoffMs(probes, failures);
      const detail = result?.detail ?? failure;
      this.#parked.set(name, { ...account, since, detail, failures: failures + 1, until, isTrying: false });
      if (parked === undefined) this.#log.error({ ...account, detail }, 'an account is parked: its messages wait');
    } else if (parked !== undefined && (result === null || result.kind === 'unknown' || failure === 'transient')) {
      this.#parked.set(name, { ...parked, isTrying: false });
    } else if (parked !== undefined) {
      this.#parked.delete(name);
      this.#log.info({ ...account }, 'a parked account works again');
    }
  }

  /** Lets the messages of a channel, or of one account, try at once. Returns the names of those that are parked. */
  resume(request: ResumeRequest): string[] {
    const named = [...this.#parked].filter(([, account]) => isToResume(request, account));
    for (const [name, parked] of named) this.#parked.set(name, { ...parked, until: 0 });
    return named.map(([name]) => name);
  }
}

const nameOf = ({ channel, accountId }: Account): string =>
  accountId === undefined ? `the account of channel ${channel}` : `the account ${accountId} of channel ${channel}`;
