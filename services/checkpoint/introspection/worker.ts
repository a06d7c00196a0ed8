import type { Config } from '../../../shared/domain/config/schema.ts';
import { roomTokens } from '../../../shared/domain/prompt/tokens.ts';
import type { CheckpointRequest } from '../../../shared/domain/session/envelope.ts';
import { backoffMs } from '../../../shared/kit/backoff.ts';
import { errorMessage, isUnreadable } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { charactersPerToken } from '../../../shared/kit/token-estimate.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { MemoryView } from '../../../shared/ports/memory-store.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { AckOutcome, Delivery } from '../../../shared/ports/work-queue.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { type IntrospectionResult, introspect } from './introspect.ts';
import { memoriesOf } from './memories.ts';
import { createResultRecorder } from './record-result.ts';
import { commandIdOf, type IntrospectionSlice, readNextSlice } from './slice.ts';

export interface WorkerOptions {
  readonly config: Config;
  readonly ports: Pick<Ports, 'clock' | 'events' | 'index' | 'commands' | 'answers' | 'checkpoints'>;
  readonly log: Logger;
  readonly member: string;
  readonly model: Model;
  readonly view: Pick<MemoryView, 'list' | 'position'>;
}

/** Temporary failures: the slice is retried with growing pauses. */
const passing: ReadonlySet<string> = new Set(['model_rate_limited', 'model_unavailable', 'model_timeout']);
const retries = { firstMs: 1_000, mostMs: 60_000 };
/** Smallest slice, however small the model's window is. */
const leastCharacters = 2_000;

/** Takes checkpoint requests from the queue, which all instances share, until it is stopped. */
export const startWorker = async (options: WorkerOptions): Promise<Omit<Service, 'name'>> => {
  const worker = new Worker(options);
  const consumption = await options.ports.checkpoints.consume({
    member: options.member,
    handle: (delivery) => worker.handle(delivery),
    lost: (partition) => worker.lost(partition),
  });
  return {
    problems: () => consumption.problems(),
    warnings: () => consumption.warnings(),
    metrics: () => ({ ...worker.metrics(), introspection_partitions: consumption.owned().length }),
    // Work in progress is restarted by the next owner of the partition: a model may take minutes.
    stop: async (deadlineMs) => {
      worker.stop();
      await consumption.close(deadlineMs / 2);
    },
  };
};

/**
 * Works through checkpoint requests and records their results with one command per slice (A7/80–84). The progress of a request is only in the
 * log: after a crash, or in another instance, it continues from there.
 */
class Worker {
  readonly #options: WorkerOptions;
  readonly #stopped = new AbortController();
  readonly #inHand = new Map<number, AbortController>();
  readonly #counts = { done: 0, failed: 0, failedSinceSuccess: 0, retries: 0, slices: 0, seconds: 0 };
  readonly #recordResult: ReturnType<typeof createResultRecorder>;
  /** Half of the window: token estimates are inexact, and an invalid answer is sent back to the model. */
  readonly #characters: number;

  constructor(options: WorkerOptions) {
    const { config, ports, model } = options;
    this.#options = options;
    this.#recordResult = createResultRecorder(ports);
    const room = roomTokens({ windowTokens: model.windowTokens, reserveTokens: config.context.reserveTokens });
    this.#characters = Math.min(limits.introspectionCharacters, Math.floor((charactersPerToken * room) / 2));
  }

  async handle({ message: request, partition }: Delivery<CheckpointRequest>): Promise<AckOutcome> {
    const { clock } = this.#options.ports;
    const ours = new AbortController();
    this.#inHand.set(partition, ours);
    const startedAt = clock.monotonic();
    try {
      const verdict = await this.#handleRequest(request, AbortSignal.any([ours.signal, this.#stopped.signal]));
      if (verdict.kind === 'retry') this.#counts.retries += 1;
      else if (verdict.kind === 'done') this.#counts.done += 1;
      return verdict;
    } catch (error) {
      if (ours.signal.aborted || this.#stopped.signal.aborted) return { kind: 'retry' };
      if (isUnreadable(error)) return { kind: 'dead', reason: errorMessage(error) };
      this.#counts.retries += 1;
      throw error;
    } finally {
      this.#counts.seconds += (clock.monotonic() - startedAt) / 1_000;
      if (this.#inHand.get(partition) === ours) this.#inHand.delete(partition);
    }
  }

  /** The partition has another owner. */
  lost(partition: number): void {
    this.#inHand.get(partition)?.abort();
  }

  stop(): void {
    this.#stopped.abort();
  }

  metrics(): Readonly<Record<string, number>> {
    const { done, failed, failedSinceSuccess, retries, slices, seconds } = this.#counts;
    return {
      introspection_done_total: done,
      introspection_recorded_total: slices,
      introspection_failed_total: failed,
      introspection_failed_since_success: failedSinceSuccess,
      introspection_retries_total: retries,
      introspection_seconds_total: seconds,
      introspection_running: this.#inHand.size,
    };
  }

  /** Handles a request slice by slice; after each, the log shows what is left. */
  async #handleRequest(request: CheckpointRequest, signal: AbortSignal): Promise<AckOutcome> {
    const { ports, log } = this.#options;
    let characters = this.#characters;
    let refused = 0;
    for (let tries = 1; ; ) {
      const slice = await readNextSlice(ports, request, characters);
      if (slice === null) return { kind: 'done' };
      const result = await this.#examine(request, slice, characters, signal);
      if (result.kind === 'failed') {
        const { code, message } = result;
        log.warn({ key: request.key, request: request.id, code, reason: message }, 'a checkpoint failed');
        if (code === 'context_overflow' && characters > leastCharacters) {
          characters = Math.floor(characters / 2);
          continue;
        }
        if (passing.has(code) && tries < limits.introspectionAttempts) {
          this.#counts.retries += 1;
          await ports.clock.sleep(backoffMs(retries, tries++), signal);
          signal.throwIfAborted();
          continue;
        }
      }
      const recorded = await this.#recordResult(request, slice, result, signal);
      if (recorded.kind === 'retry' || recorded.kind === 'dead') return recorded;
      // Only a success resets the retries: other requests are waiting behind this one.
      if (result.kind === 'done') tries = 1;
      if (recorded.kind === 'recorded') this.#countRecorded(result);
      else if (refused === slice.fromRev)
        return { kind: 'dead', reason: `${request.key} refuses results from rev ${refused} on` };
      else refused = slice.fromRev;
      // Everything before the last slice was done before it: the log need not be read once more to show it.
      if (recorded.kind === 'recorded' && slice.toRev === request.toRev) return { kind: 'done' };
    }
  }

  #countRecorded({ kind }: IntrospectionResult): void {
    this.#counts[kind === 'failed' ? 'failed' : 'slices'] += 1;
    this.#counts.failedSinceSuccess = kind === 'failed' ? this.#counts.failedSinceSuccess + 1 : 0;
  }

  async #examine(
    { key, id }: CheckpointRequest,
    { fromRev, notes, memorySeq, entries }: IntrospectionSlice,
    characters: number,
    signal: AbortSignal,
  ): Promise<IntrospectionResult> {
    const { config, ports, model, view } = this.#options;
    const { reach, shown } = await memoriesOf(
      { config, ports, view },
      { key, memorySeq, characters: Math.floor(characters / 4) },
    );
    const again = () => {
      this.#counts.retries += 1;
    };
    return introspect({ model, key, id: commandIdOf({ id }, fromRev), notes, entries, memories: shown, reach, signal, again });
  }
}
