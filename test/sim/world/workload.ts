import type { InMemorySystem } from '../../../shared/adapters/in-memory/open.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { damagedKeys, type Sent } from '../history.ts';
import type { Random } from '../random.ts';
import type { SimOptions, StepName } from './options.ts';
import type { Recorder } from './recorder.ts';

/** Pauses of a client before it sends the same command again, and how often it loses patience instead. */
const againMs = 200;
const impatience = 0.1;

/** A turn of theirs asks without waiting for the answer (ADR 22). */
const stranger = { id: 'stranger', role: 'participant', principal: 'stranger' } as const;

/** What the queue has forgotten to be lost is not accepted anew: within two minutes it knows the id. */
const acknowledge = (sent: Sent, { duplicate }: { readonly duplicate: boolean }): void => {
  sent.acknowledged ||= !(duplicate && sent.isLost);
};

/** Clients that send commands. Each waits for one acknowledgement before it sends the next to the same key, as a careful program does. */
export class Workload {
  readonly #options: SimOptions;
  readonly #system: InMemorySystem;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #recorder: Recorder;
  /** Ids of commands that are timers. */
  readonly #timed = new Set<string>();
  readonly #lines = new Map<string, Promise<void>>();
  #made = 0;
  #orders = 0;
  #patient = false;
  #dueAt = 0;
  /** Commands on their way. */
  pending = 0;

  constructor(options: SimOptions, system: InMemorySystem, clock: Clock, random: Random, recorder: Recorder) {
    this.#options = options;
    this.#system = system;
    this.#clock = clock;
    this.#random = random;
    this.#recorder = recorder;
  }

  /** One step of a client; false for a step that is not a client's. */
  step(name: StepName): boolean {
    const random = this.#random;
    switch (name) {
      case 'post':
        return this.#send(this.#message('post_message', ''));
      case 'think':
        return this.#send(this.#message('post_message', ` [[think ${random.pick([1, 20, 300, 3_000, 9_000])}]]`));
      case 'steps':
        return this.#send(
          this.#message('post_message', ` [[steps ${random.between(2, 4)}]] [[think ${random.pick([0, 5, 400])}]]`),
        );
      case 'fail':
        return this.#send(this.#message('post_message', ' [[fail]]'));
      case 'append':
        return this.#send(this.#message('append_message', ''));
      case 'stop':
        return this.#send({ type: 'stop', reason: 'asked to' });
      case 'reset':
        return this.#reset();
      case 'expire':
        return this.#expire();
      case 'patch':
        return this.#send({ type: 'patch_session', settings: { sendPolicy: random.pick(['allow', 'deny', null]) } });
      case 'delete':
        return this.#send({ type: 'delete_session', mode: random.pick(['session', 'key']), reason: 'asked to' });
      case 'open':
        return this.#send({ type: 'open_session', sessionId: `session-${this.#made}` });
      case 'deactivate':
        return this.#send({ type: 'deactivate_session', reason: 'asked to' });
      case 'resend':
        return this.#resend();
      case 'retell':
        return this.#retell();
      case 'schedule':
        return this.#schedule();
      case 'ask':
        return this.#ask();
      case 'call':
        return this.#send(this.#message('post_message', ` ${this.#calls()} [[think ${random.pick([1, 20, 300])}]]`));
      case 'poison':
        return this.#send(this.#message('post_message', ' [[tool poison]]'));
      case 'queue':
        return this.#queue();
      case 'answer':
        return this.#answer();
      case 'compact':
        return this.#send({ type: 'compact', notice: { code: 'compacted' } });
      case 'flood':
        return this.#flood();
      case 'repair':
        return this.#repair();
      default:
        return false;
    }
  }

  /** From now on every client tries until it succeeds. */
  finish(): void {
    this.#patient = true;
    if (this.#options.weights.repair > 0) this.#repair();
  }
  /** True when every command has been sent and every timer was due. */
  isDone(): boolean {
    return this.pending === 0 && this.#dueAt < this.#clock.now();
  }
  /** A person answers. */
  approve(key: SessionKey, approvalId: string): void {
    this.#send({ type: 'resolve_approval', approvalId, verdict: 'granted', by: { id: 'somebody', role: 'owner' } }, key);
  }

  #message<T extends 'post_message' | 'append_message'>(type: T, wish: string) {
    const messageId = `message-${this.#made}`;
    return {
      type,
      sessionId: `session-${this.#made}`,
      message: {
        messageId,
        text: `${messageId}${wish}`,
        sender: this.#made % 4 === 3 ? stranger : { id: 'somebody', role: 'owner' as const },
      },
    };
  }

  /** A reset, with the new generation's first message or without one. */
  #reset(): true {
    const { message, sessionId } = this.#message('post_message', '');
    const cause = { trigger: 'command', rule: '/new' } as const;
    return this.#send({ type: 'reset', sessionId, cause, ...(this.#random.chance(0.5) && { message }) });
  }
  /** A message to a session that may be stale by now. */
  #expire(): true {
    const idle = { rule: 'session.reset', idleMinutes: this.#random.pick([0, 0.001, 0.01]) };
    const expiry = this.#random.pick([idle, { rule: 'cron', isolated: true as const }]);
    return this.#send({ ...this.#message('post_message', this.#random.pick(['', ' [[think 50]]'])), expiry });
  }

  #key(): SessionKey {
    return `agent:main:sim:${this.#random.between(1, this.#options.keys)}` as SessionKey;
  }
  #client(): string {
    return `client-${this.#random.between(1, this.#options.clients)}`;
  }

  #send(data: SessionCommand, key = this.#key(), client = this.#client()): true {
    this.#line(this.#envelope(data, key, client), client);
    return true;
  }

  #envelope(data: SessionCommand, key: SessionKey, client: string): CommandEnvelope {
    const id = `command-${this.#made++}`;
    const base = { id, key, at: this.#clock.now(), correlationId: `turn-of-${id}`, causationId: id };
    return { ...base, actor: `user:${client}`, answerTo: '_INBOX.sim', data };
  }

  /** Sends a command as soon as the client's earlier ones to that key are through. */
  #line(envelope: CommandEnvelope, client: string): void {
    const line = `${client} ${envelope.key}`;
    this.pending++;
    const done = (this.#lines.get(line) ?? Promise.resolve()).then(async () => {
      const sent = this.#recorder.send(envelope, client);
      if (await this.#publish(sent)) sent.order = this.#orders++;
      this.pending--;
    });
    this.#lines.set(line, done);
  }

  /** Tries until the queue says the command is durable; an impatient client gives up at some time. */
  async #publish(sent: Sent): Promise<boolean> {
    const { id, key, data } = sent.envelope;
    this.#recorder.note(`${sent.client} sends ${id} ${data.type} to ${key}`);
    for (;;) {
      try {
        acknowledge(sent, await this.#system.commands.publish(sent.envelope));
        this.#recorder.note(`${id} is acknowledged`);
        return true;
      } catch {
        if (!this.#patient && this.#random.chance(impatience)) return false;
        await this.#clock.sleep(againMs);
      }
    }
  }

  /** One of the last commands that are through. */
  #earlier(): Sent | undefined {
    const recent = this.#recorder.sent
      .slice(-5)
      .filter(({ envelope, acknowledged }) => acknowledged && !this.#timed.has(envelope.id));
    return recent.length === 0 ? undefined : this.#random.pick(recent);
  }

  /** Sends a command at once and once, outside the client's line. */
  #sendOnce(sent: Sent): true {
    this.pending++;
    this.#recorder.note(`${sent.client} sends ${sent.envelope.id} by the way`);
    const published = this.#system.commands.publish(sent.envelope).then(
      (stored) => acknowledge(sent, stored),
      () => {},
    );
    void published.then(() => {
      this.pending--;
    });
    return true;
  }

  /** The same command again, as a sender does that lost the acknowledgement. */
  #resend(): true {
    const earlier = this.#earlier();
    return earlier === undefined || this.#sendOnce(earlier);
  }

  /** Any earlier message again: a platform or a program that repeats it after minutes, when the queue has forgotten its id (D9). */
  repeatLate(): void {
    const messages = this.#recorder.sent.filter(
      ({ envelope: { data, id }, acknowledged }) =>
        acknowledged && (data.type === 'post_message' || data.type === 'append_message') && !this.#timed.has(id),
    );
    if (messages.length > 0) this.#sendOnce(this.#random.pick(messages));
  }

  /** The same message in another command: a channel that tells its webhook twice. */
  #retell(): true {
    const earlier = this.#earlier();
    if (earlier?.envelope.data.type !== 'post_message') return true;
    const { data, key } = earlier.envelope;
    return this.#sendOnce(this.#recorder.send(this.#envelope(data, key, earlier.client), earlier.client));
  }

  /** A timer; sometimes for a command that was sent already, which the queue's own memory of ids does not see. */
  #schedule(): true {
    const earlier = this.#earlier();
    const again = earlier !== undefined && this.#random.chance(0.5);
    const client = this.#client();
    const envelope = again
      ? earlier.envelope
      : this.#envelope(this.#message('post_message', ' [[think 5]]'), this.#key(), client);
    if (!again) {
      this.#recorder.send(envelope, client).acknowledged = true;
      this.#timed.add(envelope.id);
    }
    const at = this.#clock.now() + this.#random.between(0, again ? 20 : 3_000);
    this.#dueAt = Math.max(this.#dueAt, at);
    this.#recorder.note(`timer for ${envelope.id} in ${at - this.#clock.now()} ms`);
    void this.#system.commands.schedule(envelope.id, at, envelope);
    return true;
  }

  /** A turn that runs now asks a person, who answers a little later. */
  #ask(): true {
    const started = this.#recorder.commits.flatMap(({ key, events }) =>
      events.flatMap((event) => (event.type === 'turn_started' ? [{ key, turn: { id: event.turn.id, attempt: 1 } }] : [])),
    );
    const running = started.at(-1);
    if (running === undefined) return true;
    const { key, turn } = running;
    const approvalId = `approval-${this.#made}`;
    const client = this.#client();
    this.#send(
      { type: 'request_approval', turn, approvalId, action: 'send mail', expiresAt: this.#clock.now() + 500 },
      key,
      client,
    );
    this.#send({ type: 'resolve_approval', approvalId, verdict: 'granted', by: { id: client, role: 'owner' } }, key, client);
    return true;
  }

  /** Calls of tools, in one step or in two. The same payment comes again: it may have been allowed for good. */
  #calls(): string {
    const random = this.#random;
    const call = () => {
      const name = random.pick(['charge', 'charge', 'store', 'look', 'pay']);
      return `[[tool ${name} ${JSON.stringify({ sum: random.between(1, 3), takes: random.pick([0, 50, 2_000]) })}]]`;
    };
    const step = () => Array.from({ length: random.between(1, 3) }, call).join(' ');
    return random.chance(0.3) ? `${step()} [[then]] ${step()}` : step();
  }

  /** A message that says what it does to a running turn (B6). */
  #queue(): true {
    const random = this.#random;
    const mode = random.pick(['collect', 'collect', 'steer', 'steer', 'steer', 'interrupt', 'reject'] as const);
    const queue = { mode, ...(random.chance(0.3) && { debounceMs: 200 }), ...(random.chance(0.2) && { limit: 2 }) };
    return this.#send({ ...this.#message('post_message', random.pick(['', ' [[think 300]]', ` ${this.#calls()}`])), queue });
  }

  /** Somebody answers one of the last questions: late, twice, or without being asked, too. */
  #answer(): true {
    const random = this.#random;
    const asked = this.#recorder.commits.flatMap(({ key, events }) =>
      events.flatMap((event) => (event.type === 'approval_requested' ? [{ key, approvalId: event.approvalId }] : [])),
    );
    if (asked.length === 0) return true;
    const { key, approvalId } = random.chance(0.7) ? (asked.at(-1) ?? asked[0]!) : random.pick(asked.slice(-5));
    const by = random.chance(0.8) ? ({ id: 'somebody', role: 'owner' } as const) : { id: 'somebody', name: 'owner' };
    for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--) {
      const verdict = random.chance(0.7) ? 'granted' : 'denied';
      const scope = random.chance(0.3) ? 'always' : 'once';
      this.#send(
        { type: 'resolve_approval', approvalId, verdict, scope, by, ...(random.chance(0.5) && { notice: { code: 'answered' } }) },
        key,
      );
    }
    return true;
  }

  /** A person decides about every session that is damaged, and somebody goes on with it. */
  #repair(): true {
    for (const key of damagedKeys(this.#recorder)) {
      this.#send({ type: 'repair_history', reason: 'a bad disk' }, key as SessionKey, 'operator');
      this.#send(this.#message('post_message', ''), key as SessionKey, 'operator');
    }
    return true;
  }

  /** More messages for one session than may wait for it. */
  #flood(): true {
    const key = this.#key();
    this.#send(this.#message('post_message', ' [[think 9000]]'), key, 'flooder');
    for (let count = 0; count < limits.queuedTurns + 2; count++) this.#send(this.#message('post_message', ''), key, 'flooder');
    return true;
  }
}
