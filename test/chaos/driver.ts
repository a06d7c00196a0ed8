import { setMaxListeners } from 'node:events';
import { uuidv7 } from 'uuidv7';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { CommandAnswer, CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { type Random, randomOf } from '../sim/random.ts';
import { commandFrom } from './workload.ts';

/** One command as its sender saw it. Times are milliseconds since 1970. */
export interface SentCommand {
  readonly envelope: CommandEnvelope;
  readonly invokedAt: number;
  /** Place among the commands of its key. */
  readonly order: number;
  /** When the broker had it for certain; `null`: it never said so, and it may or may not take effect. */
  okAt: number | null;
  /** Publishes that ended without an answer; each was repeated with the same id. */
  ambiguous: number;
  /** The broker said to the first publish that it answered that it had the command already. */
  duplicate: boolean;
  /** Times it was sent again on purpose after it was acknowledged. */
  resent: number;
  /** What a host told of it, and when that was heard. */
  told: { readonly answer: CommandAnswer; readonly at: number } | null;
}

export interface DriverOptions {
  readonly ports: Pick<Ports, 'commands' | 'answers' | 'clock'>;
  readonly keys: readonly SessionKey[];
  /** Over all keys, while the broker keeps up. */
  readonly commandsPerSecond: number;
  readonly random: Random;
}
export interface Driver {
  readonly commands: readonly SentCommand[];
  /** Every sender that rests sends its next command now: what comes next finds many publishes without an answer yet. */
  burst(): void;
  /** Sends the messages again whose ids the broker has forgotten, and resolves with how many it has stored once more. */
  repeatOld(): Promise<number>;
  /** Ends the load and waits until every command has been acknowledged, or given up after 60 s. */
  stop(): Promise<void>;
}

const giveUpMs = 60_000;
const retryMs = 100;
/** Longer than a run waits for what is late: only then does an answer that never came mean anything. */
const answerMs = 600_000;
/** The broker knows an id for two minutes. */
const brokerForgetsMs = 122_000;
const pacedMs = 10;
/** The share of acknowledged messages that are sent again. */
const resendShare = 0.04;

/**
 * The senders: one per key, one command at a time, so that the order of a key is known. A publish without an answer is repeated with the
 * same id until there is one, as any client would.
 */
export const startDriver = ({ ports, keys, commandsPerSecond, random }: DriverOptions): Driver => {
  const { clock } = ports;
  const commands: SentCommand[] = [];
  const ended = new AbortController();
  let woken = wakeable(keys.length);

  const publish = async (sent: SentCommand): Promise<void> => {
    const giveUpAt = clock.monotonic() + giveUpMs;
    while (clock.monotonic() < giveUpAt) {
      try {
        sent.duplicate = (await ports.commands.publish(sent.envelope)).duplicate;
        sent.okAt = clock.now();
        return;
      } catch {
        sent.ambiguous += 1;
        await clock.sleep(retryMs);
      }
    }
  };

  const hear = async (sent: SentCommand): Promise<void> => {
    const answer = await ports.answers.wait(sent.envelope.id, answerMs).catch(() => null);
    if (answer !== null) sent.told = { answer, at: clock.now() };
  };

  const send = async (key: SessionKey, own: Random, order: number): Promise<SentCommand> => {
    const id = uuidv7();
    const at = clock.now();
    const head = { id, key, at, correlationId: id, causationId: id, actor: 'chaos', answerTo: ports.answers.address };
    const envelope = { ...head, data: commandFrom(own, id, order > 0) };
    const sent: SentCommand = {
      envelope,
      invokedAt: at,
      order,
      okAt: null,
      ambiguous: 0,
      duplicate: false,
      resent: 0,
      told: null,
    };
    commands.push(sent);
    void hear(sent);
    await publish(sent);
    return sent;
  };

  /** True if the broker took it for a new one. A repeat of a message changes nothing, whenever it comes. A late repeat of a stop that stopped nothing would be another stop. */
  const sendAgain = async (sent: SentCommand): Promise<boolean> => {
    const { type } = sent.envelope.data;
    if (type !== 'post_message' && type !== 'append_message') return false;
    sent.resent += 1;
    const stored = await ports.commands.publish(sent.envelope).catch(() => null);
    return stored?.duplicate === false;
  };

  const sender = async (key: SessionKey, own: Random): Promise<void> => {
    const meanMs = (keys.length / commandsPerSecond) * 1_000;
    let previous: SentCommand | null = null;
    for (let order = 0; ; order++) {
      await clock.sleep(own.next() * 2 * meanMs, woken.signal);
      if (ended.signal.aborted) return;
      const sent = await send(key, own, order);
      if (own.chance(resendShare)) await sendAgain(own.chance(0.5) ? (previous ?? sent) : sent);
      if (sent.okAt === null) return;
      previous = sent;
    }
  };

  const senders = Promise.all(keys.map((key) => sender(key, randomOf(random.between(0, 2 ** 31)))));
  return {
    commands,
    burst: () => {
      const resting = woken;
      woken = wakeable(keys.length);
      resting.abort();
    },
    repeatOld: async () => {
      const before = clock.now() - brokerForgetsMs;
      let stored = 0;
      for (const sent of commands.filter(({ okAt }) => okAt !== null && okAt < before)) {
        if (await sendAgain(sent)) stored += 1;
        await clock.sleep(pacedMs);
      }
      return stored;
    },
    stop: async () => {
      ended.abort();
      woken.abort();
      await senders;
    },
  };
};

const wakeable = (sleepers: number): AbortController => {
  const controller = new AbortController();
  setMaxListeners(sleepers, controller.signal);
  return controller;
};
