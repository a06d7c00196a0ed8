import { uuidv7 } from 'uuidv7';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../shared/domain/session/envelope.ts';
import type { Ports } from '../../shared/ports/index.ts';

export const keyOf = (number: number): SessionKey => `agent:main:bench:dm:${number}` as SessionKey;

/** A message of about 60 characters, as a chat has them. */
const textOf = (number: number): string => `message ${number}: how do I mount a windows partition in ubuntu?`;

const postMessage = (ports: Ports, key: SessionKey, number: number): CommandEnvelope => {
  const id = uuidv7();
  const message = { messageId: id, text: textOf(number), sender: { id: 'bench' } };
  return {
    id,
    key,
    at: Date.now(),
    correlationId: id,
    causationId: id,
    actor: 'bench',
    answerTo: ports.answers.address,
    data: { type: 'post_message', sessionId: `api:${id}`, message },
  };
};

/**
 * One whole turn: the message durable in the command stream, then the commit that holds the reply durable in the event log. With the
 * offline model the answer to the command is told after that commit (ADR 3), so it marks the end of the turn.
 */
export const turn = async (ports: Ports, key: SessionKey, number: number): Promise<void> => {
  const envelope = postMessage(ports, key, number);
  const answer = ports.answers.wait(envelope.id, 30_000);
  await ports.commands.publish(envelope);
  const outcome = await answer;
  // A host that dies between its commit and its answer leaves the answer to the next one, who finds the command done.
  if (outcome?.outcome !== 'accepted' && outcome?.outcome !== 'duplicate')
    throw new Error(`turn on ${key} was not accepted: ${JSON.stringify(outcome)}`);
};

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
}

export const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;

/** Runs `job` with a fixed number in flight for a time, and reports rate and latencies. */
export const closedLoop = async (
  inFlight: number,
  forMs: number,
  job: (number: number, worker: number) => Promise<void>,
): Promise<Measured> => {
  const latencies: number[] = [];
  const began = performance.now();
  let next = 0;
  const worker = async (_: unknown, index: number): Promise<void> => {
    while (performance.now() - began < forMs) {
      const start = performance.now();
      await job(next++, index);
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - began) / 1_000;
  const sorted = latencies.sort((a, b) => a - b);
  return {
    perSecond: sorted.length / seconds,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    count: sorted.length,
  };
};
