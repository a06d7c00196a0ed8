import { isDeepStrictEqual } from 'node:util';
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
  /** A member joined, left, or announced something new. */
  changed(): void;
}

/** What a renewal says, besides that its member is alive. */
interface Announcement {
  /** It takes no new partitions, and gives up those that it has. */
  readonly leaving: boolean;
  /** Partitions that it is still busy with, though they are another one's now. */
  readonly finishing: readonly number[];
}
interface Member extends Announcement {
  readonly seenAt: number;
}

/**
 * Who is alive in a group. A renewal is one message with a time to live on the member's key of the bucket. The bucket keeps it
 * for members that start later and for people to look at; running members receive it directly, so a bucket without a leader
 * expels nobody. Our own renewals come back the same way and prove that others could receive them. All times are monotonic and
 * local (F16).
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #members = new Map<string, Member>();
  #announced: Announcement = { leaving: false, finishing: [] };
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
    this.#members.set(member, { ...this.#announced, seenAt: this.#provenAt });
    this.#renew();
  }

  /** Members that share the work: alive and not leaving, this one included. */
  members(): string[] {
    return [...this.#members].flatMap(([name, { leaving }]) => (leaving ? [] : [name]));
  }

  /** True while another member is still busy with a partition that was its own. */
  isFinishing(partition: number): boolean {
    return [...this.#members].some(([name, { finishing }]) => name !== this.#options.member && finishing.includes(partition));
  }

  /** Tells the others at once what this member is still busy with. */
  announceFinishing(partitions: readonly number[]): void {
    this.#announce({ ...this.#announced, finishing: partitions });
  }

  /** Tells the others that this member takes no new partitions. It stays a member until `leave`. */
  retire(): void {
    this.#announce({ ...this.#announced, leaving: true });
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
    return this.#options.clock.monotonic() - (this.#members.get(member)?.seenAt ?? 0) > memberTimes.lateMs;
  }

  /** Call a few times per second while connected. */
  tick(): void {
    const now = this.#options.clock.monotonic();
    // We were paused or disconnected, so the others' silence proves nothing.
    if (now - this.#tickedAt > memberTimes.renewMs)
      for (const [name, member] of this.#members) this.#members.set(name, { ...member, seenAt: now });
    this.#tickedAt = now;
    if (!this.#left && now - this.#sentAt >= memberTimes.renewMs) this.#renew();
    for (const [name, { seenAt }] of this.#members) {
      if (name !== this.#options.member && now - seenAt > memberTimes.ttlMs) this.#forget(name);
    }
  }

  /** Announces that this member leaves. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#members.delete(this.#options.member);
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

  #announce(announcement: Announcement): void {
    const isSame = isDeepStrictEqual(announcement, this.#announced);
    this.#announced = announcement;
    if (!isSame && !this.#left && !this.#options.connection.isClosed()) this.#renew();
  }

  #renew(): void {
    const { connection, clock, member } = this.#options;
    this.#sentAt = clock.monotonic();
    const renewal = headers();
    renewal.set('Nats-TTL', `${memberTimes.ttlMs / 1_000}s`);
    const content: Renewal = { at: clock.now(), sentAt: this.#sentAt, ...this.#announced };
    connection.publish(this.#subject(member), JSON.stringify(content), { headers: renewal });
  }

  #hear(message: Msg): void {
    const member = message.subject.slice(this.#subject('').length);
    if (message.headers?.has('KV-Operation')) {
      if (member !== this.#options.member) this.#forget(member);
      return;
    }
    if (member === this.#options.member) {
      // Not the time of arrival: after a long pause an old renewal may still be in our socket.
      this.#provenAt = Math.max(this.#provenAt, renewalOf(message).sentAt);
      return;
    }
    this.#see(member, renewalOf(message));
  }

  #see(name: string, { leaving, finishing }: Announcement): void {
    const { seenAt: _, ...before } = this.#members.get(name) ?? { seenAt: null };
    this.#members.set(name, { leaving, finishing, seenAt: this.#options.clock.monotonic() });
    if (!isDeepStrictEqual(before, { leaving, finishing })) this.#options.changed();
  }

  #forget(member: string): void {
    if (this.#members.delete(member)) this.#options.changed();
  }

  /** False when the bucket could not be read. */
  async #readList(): Promise<boolean> {
    const { manager, bucket } = this.#options;
    try {
      const records = await manager.direct.getLastMessagesFor(`KV_${bucket}`, { multi_last: [this.#subject('*')] });
      for await (const record of records) {
        if (!record.header?.has('KV-Operation') && !record.header?.has('Nats-Marker-Reason'))
          this.#see(record.subject.slice(this.#subject('').length), renewalOf(record));
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

interface Renewal extends Announcement {
  /** By the wall clock, for people who look at the bucket, ms. */
  readonly at: number;
  /** On the sender's monotonic clock, ms. */
  readonly sentAt: number;
}

const renewalOf = (message: { json<T>(): T }): Renewal => {
  const nothing: Renewal = { at: 0, sentAt: Number.NEGATIVE_INFINITY, leaving: false, finishing: [] };
  try {
    const content = { ...nothing, ...message.json<Partial<Renewal>>() };
    return { ...content, finishing: Array.isArray(content.finishing) ? content.finishing : [] };
  } catch {
    return nothing;
  }
};
