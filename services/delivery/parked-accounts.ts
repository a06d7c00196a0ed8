import { isToResume, type ResumeRequest, type WaitingDelivery } from '../../shared/domain/values/delivery.ts';
import type { DeliveryTarget } from '../../shared/domain/values/types.ts';
import { type Backoff, backoffMs } from '../../shared/kit/backoff.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { FailureClass, SendResult } from '../../shared/ports/outlet.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { conversationOf } from './delivery-log.ts';

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
  /** The conversations that a right was missing for, the last ones. While it is one, it may be that conversation's alone. */
  readonly refused: readonly string[];
}

/** When to ask again, in ms, and what waits until then: a conversation, or the account. */
export interface AccountWait {
  readonly until: number;
  readonly scope: string;
  /** Why nothing goes through. */
  readonly detail: string;
}

const probes: Backoff = { firstMs: deliveryLimits.probeMs, mostMs: deliveryLimits.probeMostMs };
/** How long the others wait for the outcome of the message that tries. */
const tryingMs = 1_000;
/** How long a conversation that was refused lets others try first. */
const givingWayMs = 5_000;
/** Refused conversations that are remembered of an account. */
const mostRefused = 16;

/**
 * The accounts that the platform lets nothing through for: a token was revoked, or a right is missing. Their messages wait. From time to
 * time one of them tries whether the account works again. A restart tries at once. A right may also be missing in one conversation alone,
 * because somebody has blocked the agent there. Another conversation shows that: if its message goes through, those that were refused hold up
 * nobody.
 */
export class ParkedAccounts {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Pick<Logger, 'error' | 'info'>;
  readonly #parked = new Map<string, Parked>();
  /** Conversations that were refused while their account worked for others, the oldest first, bounded. */
  readonly #blocked = new Set<string>();

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
    return [...this.#parked.values()].map(({ channel, accountId, detail, until, failures: attempts }) => ({
      ...{ channel, ...(accountId !== undefined && { accountId }), state: 'parked', detail, until, attempts },
    }));
  }

  /** `null` if a message there may be sent now. The caller that may must call `tried`. */
  waitOf(target: DeliveryTarget): AccountWait | null {
    const name = accountName(target);
    const parked = this.#parked.get(name);
    if (parked === undefined) return null;
    const now = this.#clock.now();
    const { detail } = parked;
    if (parked.isTrying) return { until: now + tryingMs, scope: name, detail };
    const conversation = conversationOf(target);
    const wasRefused = parked.refused.includes(conversation);
    // Nobody else has tried yet.
    if (parked.refused.length === 1) {
      if (wasRefused && now < parked.until) return { until: parked.until, scope: conversation, detail };
    } else if (now < parked.until) return { until: parked.until, scope: name, detail };
    else if (wasRefused && now < parked.until + givingWayMs) return { until: now + tryingMs, scope: name, detail };
    this.#parked.set(name, { ...parked, isTrying: true });
    return null;
  }

  /** What became of a send, `null` if nothing did: parks the account or takes it up again. Resolves to what it means for the message. */
  tried(target: DeliveryTarget, result: SendResult | null): SendResult | null {
    const name = accountName(target);
    const parked = this.#parked.get(name);
    const conversation = conversationOf(target);
    const failure = result?.kind === 'refused' ? result.failure : null;
    const isBlocked = failure === 'permission' && this.#blocked.has(conversation);
    const saysNothing = result === null || result.kind === 'unknown' || failure === 'transient' || isBlocked;
    if (saysNothing) {
      if (parked !== undefined) this.#parked.set(name, { ...parked, isTrying: false });
    } else if (failure === 'auth' || failure === 'permission') {
      this.#park(target, { name, failure, detail: result.detail ?? failure });
    } else {
      this.#blocked.delete(conversation);
      if (parked !== undefined) this.#takeUp(name, parked, conversation);
    }
    return isBlocked && result?.kind === 'refused' ? { ...result, ...ofConversation(result) } : result;
  }

  #park(target: DeliveryTarget, { name, failure, detail }: { name: string; failure: FailureClass; detail: string }): void {
    const parked = this.#parked.get(name);
    const now = this.#clock.now();
    const { since = now, failures = 0, refused: before = [] } = parked ?? {};
    const conversation = conversationOf(target);
    const others = before.filter((each) => each !== conversation);
    const refused = failure === 'permission' ? [...others, conversation].slice(-mostRefused) : [];
    const until = now + backoffMs(probes, failures);
    const { channel, accountId } = target;
    const account = { channel, ...(accountId !== undefined && { accountId }) };
    this.#parked.set(name, { ...account, since, detail, failures: failures + 1, until, isTrying: false, refused });
    if (parked === undefined) this.#log.error({ ...account, detail }, 'an account is parked: its messages wait');
  }

  #takeUp(name: string, { channel, accountId, refused }: Parked, conversation: string): void {
    this.#parked.delete(name);
    for (const each of refused) if (each !== conversation) this.#blocked.add(each);
    for (const each of this.#blocked) if (this.#blocked.size > deliveryLimits.conversations) this.#blocked.delete(each);
    this.#log.info({ channel, ...(accountId !== undefined && { accountId }) }, 'a parked account works again');
  }

  /** Lets the messages of a channel, or of one account, try at once. Returns what waited: those accounts, and conversations of theirs. */
  resume(request: ResumeRequest): string[] {
    const named = [...this.#parked].filter(([, account]) => isToResume(request, account));
    for (const [name, parked] of named) this.#parked.set(name, { ...parked, until: 0 });
    return named.flatMap(([name, { refused }]) => [name, ...refused]);
  }
}

/** A refusal that is about one conversation: its message ends. */
const ofConversation = ({ detail }: SendResult & { kind: 'refused' }) =>
  ({ failure: 'not_found', detail: `${detail}, while the account works for others` }) as const;

const nameOf = ({ channel, accountId }: Account): string =>
  accountId === undefined ? `the account of channel ${channel}` : `the account ${accountId} of channel ${channel}`;
