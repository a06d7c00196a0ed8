import type { SessionEvent } from '../../shared/session/events.ts';

/** What has been recorded by this host, in numbers for operators. */
export class Tally {
  readonly #counts = {
    turns: 0,
    callsOk: 0,
    callsFailed: 0,
    callsRefused: 0,
    callsUnknown: 0,
    approvals: 0,
    compactions: 0,
    stalls: 0,
  };

  add(events: readonly SessionEvent[]): void {
    const counts = this.#counts;
    for (const event of events) {
      if (event.type === 'turn_started') counts.turns++;
      else if (event.type === 'approval_requested') counts.approvals++;
      else if (event.type === 'context_compacted') counts.compactions++;
      else if (event.type === 'turn_resumed' && event.reason !== undefined) counts.stalls++;
      else if (event.type === 'turn_failed' && event.code === 'turn_stalled') counts.stalls++;
      else if (event.type === 'tool_result') counts[countOf[event.outcome]]++;
    }
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
