import { backoffMs } from '../../../kit/backoff.ts';
import { errorMessage } from '../../../kit/errors.ts';
import { isGivenUp } from '../../../wire/subjects.ts';
import { handleStored, handlingRetries, type StoredAckOutcome } from '../../streams/handle-stored.ts';
import type { Pulled, PullStream } from '../pull-stream.ts';
import type { PartitionHost } from './partition-host.ts';

interface InHand {
  readonly pulled: Pulled;
  readonly tenure: number;
  readonly since: number;
  workedAt: number;
  failures: number;
  trouble: string;
}

/**
 * One partition as this member sees it. Messages go to `handle` one after another; a failed message is retried before anything
 * newer. The broker delivers only one per partition at a time (`max_ack_pending: 1`), so order does not depend on this code: it
 * is for speed, and for telling the host at once when the partition may belong to another member.
 */
export class Partition<T> {
  readonly number: number;
  readonly #host: PartitionHost<T>;
  #pull: PullStream | null = null;
  #isReleasing = false;
  #held = false;
  /** Increases with every loss. Work that started in an earlier tenure is not ours to acknowledge. */
  #tenure = 0;
  #quietSince = 0;
  #arrived: Pulled[] = [];
  #inHand: InHand | null = null;
  /** Answers to be sent after the pin is given up: before that, the broker would send us the next message. */
  #afterUnpin: (() => void)[] = [];
  /** Ends the wait before another try. */
  #interrupt = new AbortController();
  #idle: Promise<void> = Promise.resolve();
  #lastPull: Promise<void> = Promise.resolve();

  constructor(number: number, host: PartitionHost<T>) {
    this.number = number;
    this.#host = host;
  }

  get held(): boolean {
    return this.#held;
  }
  get isOpen(): boolean {
    return this.#pull !== null;
  }
  /** Resolves when nothing more can arrive for a released partition. */
  get ended(): Promise<void> {
    return this.#lastPull;
  }

  /** Starts requesting messages. */
  open(): void {
    if (this.#pull !== null) return;
    this.#quietSince = this.#host.clock.monotonic();
    this.#pull = this.#host.openPull(this.number, {
      message: (pulled) => this.#arrive(pulled),
      unpinned: () => this.lose(),
      gone: () => {
        this.lose();
        this.#host.gone();
      },
    });
  }

  /**
   * Hands over: the current message is finished, the pin given up, and only then the message acknowledged, so that the next one
   * goes to the next owner. `mayGo` is asked after the message, or after `withinMs` without its end (`isIdle` is false then). If it
   * says no, the partition is served on, and this resolves with false. Call it once at a time.
   */
  async release(withinMs: number, mayGo: (isIdle: boolean) => boolean): Promise<boolean> {
    const pull = this.#pull;
    if (pull === null) return true;
    this.#isReleasing = true;
    const goes = mayGo(await this.#finish(withinMs));
    if (goes) await this.#giveUp(pull);
    this.#isReleasing = false;
    for (const answer of this.#afterUnpin.splice(0)) answer();
    return goes;
  }

  /** The partition belongs, or may belong, to another member. */
  lose(): void {
    this.#tenure += 1;
    this.#arrived = [];
    this.#quietSince = this.#host.clock.monotonic();
    this.#interrupt.abort();
    if (!this.#held) return;
    this.#held = false;
    this.#host.options.lost?.(this.number);
  }

  /**
   * Call a few times per second while connected. `isOwner`: this member is meant to have the partition, not just to be its
   * standby.
   */
  tick(isOwner: boolean): void {
    const now = this.#host.clock.monotonic();
    if (this.#pull === null) return;
    if (this.#inHand !== null && now - this.#inHand.workedAt >= this.#host.ackWaitMs / 3) {
      this.#inHand.workedAt = now;
      this.#inHand.pulled.answer('working');
    }
    this.#pull.tick();
    if (this.#isReleasing) return;
    if (this.#pull.silentMs() >= this.#host.pinMs) this.lose();
    // Without a message we never get a pin. An earlier owner's pin has expired by now, and its sessions may need to be resumed.
    else if (isOwner && now - this.#quietSince >= this.#host.pinMs) this.#acquire();
  }

  /** Sends a new request at once: after a reconnect, or when messages wait and no request is out. */
  pullAgain(): void {
    if (!this.#isReleasing) this.#pull?.request();
  }

  /** Milliseconds without a sign of life from the consumer; 0 when none is expected. */
  silentMs(): number {
    return this.#isReleasing ? 0 : (this.#pull?.silentMs() ?? 0);
  }

  /** Why this partition does not make progress, or `null`. */
  trouble(stuckMs: number): string | null {
    if (this.#inHand === null || this.#host.clock.monotonic() - this.#inHand.since < stuckMs) return null;
    const { pulled, failures, trouble } = this.#inHand;
    return `partition ${this.number} has been busy with message ${pulled.seq} for a long time${
      failures === 0 ? '' : ` and has tried it ${failures} times (${trouble})`
    }`;
  }

  /** Resolves with false if the message in hand takes longer. One between two tries need not be finished: the next owner can try it. */
  async #finish(withinMs: number): Promise<boolean> {
    for (const pulled of this.#arrived.splice(0)) this.#afterUnpin.push(() => pulled.answer('again'));
    this.#interrupt.abort();
    const ended = new AbortController();
    const isIdle = await Promise.race([
      this.#idle.then(() => true),
      this.#host.clock.sleep(withinMs, ended.signal).then(() => false),
    ]);
    ended.abort();
    return isIdle;
  }

  async #giveUp(pull: PullStream): Promise<void> {
    pull.stop();
    const wasOurs = this.#held || pull.pinned;
    this.lose();
    if (wasOurs && !(await this.#giveUpPin())) this.#afterUnpin = [];
    this.#pull = null;
    this.#lastPull = pull.end((pulled) => void this.#giveBack(pulled));
  }

  /** Again if a message came meanwhile: it may have renewed our pin, and the next owner would wait until that ends. */
  async #giveUpPin(): Promise<boolean> {
    for (;;) {
      const unanswered = this.#afterUnpin.length;
      if (!(await this.#host.unpin(this.number))) return false;
      if (this.#afterUnpin.length === unanswered) return true;
    }
  }

  /**
   * A message that arrived on our last request. It may have renewed our pin, and with the pin the message would come back to us.
   */
  async #giveBack(pulled: Pulled): Promise<void> {
    await this.#host.unpin(this.number);
    pulled.answer('again');
  }

  #acquire(): void {
    if (this.#held || this.#isReleasing) return;
    this.#held = true;
    this.#host.options.acquired?.(this.number);
  }

  #arrive(pulled: Pulled): void {
    if (this.#isReleasing) {
      this.#afterUnpin.push(() => pulled.answer('again'));
      return;
    }
    // Not a member any more, or back from a long pause with an old message in the socket: the broker will deliver it to its new
    // owner.
    if (!this.#host.isIn()) return;
    this.#acquire();
    // The broker thought we were dead and delivered the message that we are handling.
    if (this.#inHand?.pulled.seq === pulled.seq && this.#inHand.tenure === this.#tenure) return;
    this.#arrived.push(pulled);
    if (this.#inHand === null && this.#arrived.length === 1) this.#idle = this.#work();
  }

  async #work(): Promise<void> {
    for (let pulled = this.#arrived.shift(); pulled !== undefined; pulled = this.#arrived.shift()) {
      const now = this.#host.clock.monotonic();
      this.#inHand = { pulled, tenure: this.#tenure, since: now, workedAt: now, failures: 0, trouble: '' };
      await this.#settle(this.#inHand);
      this.#inHand = null;
    }
  }

  /** Tries until the message is settled, or the partition is lost. */
  async #settle(inHand: InHand): Promise<void> {
    const { pulled, tenure } = inHand;
    const { done } = this.#host;
    const verdict = await this.#repeat(inHand, () => this.#attempt(inHand));
    // Lost meanwhile: the new owner gets the message again and finds it done.
    if (tenure !== this.#tenure) return;
    // Nothing recorded shows it: if acknowledged but not removed, it could be delivered and done again one day (ADR 9).
    const remove = async (): Promise<StoredAckOutcome> => ((await done?.removeNow(pulled.seq)) === false ? 'retry' : 'done');
    const fate = verdict === 'done' ? await this.#repeat(inHand, remove) : verdict;
    if (tenure !== this.#tenure) return;
    const answer = (): void => {
      pulled.answer(fate === 'retry' ? 'again' : 'done');
      if (fate === 'recorded') done?.note(this.number, pulled.seq);
    };
    if (!this.#isReleasing) answer();
    else this.#afterUnpin.push(answer);
  }

  /** Does the work, and retries it while it fails and the partition is ours. */
  async #repeat(inHand: InHand, work: () => Promise<StoredAckOutcome>): Promise<StoredAckOutcome> {
    const isOurs = (): boolean => inHand.tenure === this.#tenure && !this.#isReleasing;
    let fate = await work();
    while (fate === 'retry' && isOurs()) {
      inHand.failures += 1;
      this.#interrupt = new AbortController();
      await this.#host.clock.sleep(backoffMs(handlingRetries, inHand.failures), this.#interrupt.signal);
      if (isOurs()) fate = await work();
    }
    return fate;
  }

  async #attempt(inHand: InHand): Promise<StoredAckOutcome> {
    const { deliveries, ...pulled } = inHand.pulled;
    try {
      await this.#host.guard?.take(pulled.seq);
    } catch (error) {
      inHand.trouble = errorMessage(error);
      return 'retry';
    }
    if (isGivenUp(pulled.subject)) return 'recorded';
    return handleStored(this.#host, { ...pulled, partition: this.number, attempt: deliveries + inHand.failures }, (reason) => {
      inHand.trouble = reason;
    });
  }
}
