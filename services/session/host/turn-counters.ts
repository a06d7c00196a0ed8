import type { Commit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { SessionMeters } from './meters.ts';

/** Counts what this host has recorded, for operators. */
export class TurnCounters {
  readonly meters: SessionMeters;
  /** Start times of the turns that started here, by their ids, ms. */
  readonly #startedAt = new Map<string, number>();
  readonly #counts = {
    turns: 0,
    callsOk: 0,
    callsFailed: 0,
    callsRefused: 0,
    callsUnknown: 0,
    approvals: 0,
    compactions: 0,
    stalls: 0,
    failedSinceSuccess: 0,
  };

  constructor(meters: SessionMeters = new SessionMeters()) {
    this.meters = meters;
  }

  add({ events, at }: Pick<Commit, 'events' | 'at'>): void {
    for (const event of events) {
      this.#count(event);
      this.#measure(event, at);
    }
  }

  #measure(event: SessionEvent, at: number): void {
    if (event.type === 'turn_started') this.#started(event.turn.id, at);
    else if (event.type === 'model_step' || event.type === 'context_compacted') this.meters.used(event.model, event.usage);
    else if (event.type === 'turn_completed') this.#ended('completed', '', event.turn.id, at);
    else if (event.type === 'turn_failed') this.#ended('failed', event.code, event.turn.id, at);
    else if (event.type === 'turn_aborted') this.#ended('aborted', '', event.turn.id, at);
  }

  /** An `LRUCache` would clear all its slots whenever its last entry is deleted: with each turn that one commit begins and ends. */
  #started(turnId: string, at: number): void {
    this.#startedAt.set(turnId, at);
    const [oldest = turnId] = this.#startedAt.keys();
    if (this.#startedAt.size > limits.tracedRuns) this.#startedAt.delete(oldest);
  }

  #ended(outcome: 'completed' | 'failed' | 'aborted', code: string, turnId: string, at: number): void {
    const since = this.#startedAt.get(turnId);
    this.#startedAt.delete(turnId);
    if (outcome === 'completed') this.#counts.failedSinceSuccess = 0;
    else if (outcome === 'failed') this.#counts.failedSinceSuccess++;
    this.meters.turnEnded(outcome, code, since === undefined ? undefined : Math.max(0, at - since) / 1_000);
  }

  #count(event: SessionEvent): void {
    const counts = this.#counts;
    if (event.type === 'turn_started') counts.turns++;
    else if (event.type === 'approval_requested') counts.approvals++;
    else if (event.type === 'context_compacted') counts.compactions++;
    else if (event.type === 'turn_resumed' && event.reason !== undefined) counts.stalls++;
    else if (event.type === 'turn_failed' && event.code === 'turn_stalled') counts.stalls++;
    else if (event.type === 'tool_result') counts[countOf[event.outcome]]++;
  }

  metrics(): Record<string, number> {
    const counts = this.#counts;
    return {
      turns_started_total: counts.turns,
      tool_calls_ok_total: counts.callsOk,
      tool_calls_error_total: counts.callsFailed,
      tool_calls_refused_total: counts.callsRefused,
      tool_calls_unknown_total: counts.callsUnknown,
      approvals_requested_total: counts.approvals,
      compactions_total: counts.compactions,
      turns_stalled_total: counts.stalls,
      turns_failed_since_success: counts.failedSinceSuccess,
    };
  }
}

const countOf = {
  ok: 'callsOk',
  error: 'callsFailed',
  denied: 'callsRefused',
  expired: 'callsRefused',
  unknown: 'callsUnknown',
} as const;
