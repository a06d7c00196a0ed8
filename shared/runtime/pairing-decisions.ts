import {
  approve,
  type ChannelPairing,
  deny,
  type PairedSender,
  pairingCodeOf,
  pairingLimits,
  waitingRequests,
} from '../domain/routing/pairing.ts';
import type { Ports } from '../ports/index.ts';
import { RateLimit } from './rate-limit.ts';

/** A sender, with their channel. */
export type OnChannel<T> = T & { readonly channel: string };
type Found = OnChannel<{ readonly senderId: string }>;

/** Does something once the audit trail has recorded it; `target` is the sender, as `<channel>:<id>`. */
export type Audited = <T>(kind: 'pairing_approved' | 'pairing_denied', target: string, act: () => Promise<T>) => Promise<T>;

/** Whose code it is, on one channel or on any, and who decides. */
export interface CodeDecision {
  readonly code: string;
  readonly channel?: string | undefined;
  /** The actor. */
  readonly by: string;
}

/**
 * What the owner decides about strangers who wait (D8). A code belongs to its channel alone; whoever names wrong ones too often has
 * to wait. All methods throw `NatterError('overloaded')` for them.
 */
export class PairingDecisions {
  readonly #ports: Pick<Ports, 'pairings' | 'clock'>;
  readonly #guesses: RateLimit;

  constructor(ports: Pick<Ports, 'pairings' | 'clock'>) {
    this.#ports = ports;
    this.#guesses = new RateLimit(ports.clock, () => pairingLimits.guessesPerMinute, 'this caller names wrong pairing codes');
  }

  /** The sender whose code it is may write from now on; `null`: no such code waits. The same code again changes nothing. */
  async approve(decision: CodeDecision, audited: Audited): Promise<OnChannel<PairedSender> | null> {
    const { pairings, clock } = this.#ports;
    const found = await this.#find(decision, ({ paired }) => paired);
    if (found === null) return null;
    const { channel } = found;
    const approved = await audited('pairing_approved', `${channel}:${found.senderId}`, () =>
      pairings.change(channel, (record) => approve(record, { ...decision, now: clock.now() })),
    );
    return approved && { ...approved, channel };
  }

  /** The sender gets no other code until this one expires. */
  async deny(decision: CodeDecision, audited: Audited): Promise<Found | null> {
    const { pairings, clock } = this.#ports;
    const found = await this.#find(decision, () => []);
    if (found === null) return null;
    const { channel, senderId } = found;
    await audited('pairing_denied', `${channel}:${senderId}`, () =>
      pairings.change(channel, (record) => deny(record, decision.code, clock.now())),
    );
    return { channel, senderId };
  }

  async #find(
    { code: said, channel, by }: CodeDecision,
    also: (record: ChannelPairing) => readonly { readonly code: string; readonly senderId: string }[],
  ): Promise<Found | null> {
    this.#guesses.check(by);
    const { pairings, clock } = this.#ports;
    const code = pairingCodeOf(said);
    const records = (await pairings.all()).filter((record) => channel === undefined || record.channel === channel);
    for (const record of records) {
      const found = [...waitingRequests(record, clock.now()), ...also(record)].find((each) => each.code === code);
      if (found !== undefined) return { channel: record.channel, senderId: found.senderId };
    }
    this.#guesses.take(by);
    return null;
  }
}
