import type { JetStreamManager } from '@nats-io/jetstream';
import { headers, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { assert } from '../../../kit/assert.ts';
import type { Clock } from '../../../kit/clock.ts';
import { HealthProblem } from '../../../kit/health-problem.ts';
import { bucketSubject } from '../../../wire/subjects.ts';

/** A member is alive while it renews. After `lateMs` its standby starts to request messages; after `ttlMs` it is out. */
const memberTimes = { renewMs: 1_000, lateMs: 2_000, ttlMs: 3_000 } as const;

export interface MembershipOptions {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** The bucket `hosts`. */
  readonly bucket: string;
  /** Members of one group share work. */
  readonly group: string;
  /** This process's name in the group: letters, digits, `_` and `-`. */
  readonly member: string;
  readonly clock: Clock;
  /** A member joined or left. */
  changed(): void;
}

/**
 * Who is alive in a group. A renewal is one message with a time to live on the member's key of the bucket. The bucket keeps it
 * for members that start later and for people to look at; running members receive it directly, so a bucket without a leader
 * expels nobody. Our own renewals come back the same way and prove that others could receive them. All times are monotonic and
 * local (F16).
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #seenAt = new Map<string, number>();
  #subscription: Subscription | null = null;
  #left = false;
  /** When the newest of our renewals that came back was sent. */
  #provenAt = Number.NEGATIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;
  #tickedAt: number;

  constructor(options: MembershipOptions) {
    assert(/^[A-Za-z0-9_-]{1,128}$/.test(options.member), 'a member name is 1 to 128 letters, digits, "_" and "-"');
    this.#options = options;
    this.#tickedAt = options.clock.monotonic();
  }

  /** Reads the list of members, then announces itself. */
  async join(): Promise<void> {
    const { connection, clock, member } = this.#options;
    this.#subscription = connection.subscribe(this.#subject('*'), {
      callback: (error, message) => {
        if (error === null) this.#hear(message);
      },
    });
    // Without the list a member would believe it is alone: it listens for one round of renewals instead.
    if (!(await this.#readList())) await clock.sleep(memberTimes.renewMs + 200);
    this.#provenAt = clock.monotonic();
    this.#tickedAt = this.#provenAt;
    this.#seenAt.set(member, this.#provenAt);
    this.#renew();
  }

  /** Members that are alive, including this one unless it has left. */
  members(): Iterable<string> {
    return this.#seenAt.keys();
  }

  /** False when the others may have given us up, or we have left: then we own nothing. */
  isIn(): boolean {
    return !this.#left && this.#options.clock.monotonic() - this.#provenAt < memberTimes.ttlMs;
  }

  /** Why this member takes part no more; empty if it does. */
  problems(): readonly HealthProblem[] {
    const { member, group } = this.#options;
    if (this.isIn()) return [];
    return [new HealthProblem('work_stalled', `${member} is no longer a member of ${group}: its renewals do not arrive`)];
  }

  /** True when a member has missed two renewals. */
  isLate(member: string): boolean {
    return this.#options.clock.monotonic() - (this.#seenAt.get(member) ?? 0) > memberTimes.lateMs;
  }

  /** Call a few times per second while connected. */
  tick(): void {
    const now = this.#options.clock.monotonic();
    // We were paused or disconnected, so the others' silence proves nothing.
    if (now - this.#tickedAt > memberTimes.renewMs) for (const member of this.#seenAt.keys()) this.#seenAt.set(member, now);
    this.#tickedAt = now;
    if (!this.#left && now - this.#sentAt >= memberTimes.renewMs) this.#renew();
    for (const [member, seenAt] of this.#seenAt) {
      if (member !== this.#options.member && now - seenAt > memberTimes.ttlMs) this.#forget(member);
    }
  }

  /** Announces that this member leaves. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#seenAt.delete(this.#options.member);
    const farewell = headers();
    farewell.set('KV-Operation', 'DEL');
    farewell.set('Nats-TTL', `${memberTimes.ttlMs / 1_000}s`);
    if (!this.#options.connection.isClosed()) {
      this.#options.connection.publish(this.#subject(this.#options.member), '', { headers: farewell });
    }
  }

  close(): void {
    if (!this.#options.connection.isClosed()) this.#subscription?.unsubscribe();
  }

  #renew(): void {
    const { connection, clock, member } = this.#options;
    this.#sentAt = clock.monotonic();
    const renewal = headers();
    renewal.set('Nats-TTL', `${memberTimes.ttlMs / 1_000}s`);
    connection.publish(this.#subject(member), JSON.stringify({ at: clock.now(), sentAt: this.#sentAt }), { headers: renewal });
  }

  #hear(message: Msg): void {
    const member = message.subject.slice(this.#subject('').length);
    if (message.headers?.has('KV-Operation')) {
      if (member !== this.#options.member) this.#forget(member);
      return;
    }
    if (member === this.#options.member) {
      // Not the time of arrival: after a long pause an old renewal may still be in our socket.
      this.#provenAt = Math.max(this.#provenAt, sentAtOf(message));
      return;
    }
    this.#see(member);
  }

  #see(member: string): void {
    const isNew = !this.#seenAt.has(member);
    this.#seenAt.set(member, this.#options.clock.monotonic());
    if (isNew) this.#options.changed();
  }

  #forget(member: string): void {
    if (this.#seenAt.delete(member)) this.#options.changed();
  }

  /** False when the bucket could not be read. */
  async #readList(): Promise<boolean> {
    const { manager, bucket } = this.#options;
    try {
      const records = await manager.direct.getLastMessagesFor(`KV_${bucket}`, { multi_last: [this.#subject('*')] });
      for await (const record of records) {
        if (!record.header?.has('KV-Operation') && !record.header?.has('Nats-Marker-Reason'))
          this.#see(record.subject.slice(this.#subject('').length));
      }
      return true;
    } catch {
      return false;
    }
  }

  #subject(member: string): string {
    return bucketSubject(this.#options.bucket, `${this.#options.group}.${member}`);
  }
}

const sentAtOf = (message: Msg): number => {
  try {
    return Number(message.json<{ sentAt: number }>().sentAt);
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
};
