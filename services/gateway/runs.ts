import { LRUCache } from 'lru-cache';
import { assertNever } from '../../shared/kit/assert.ts';
import { hasCode } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Clock, Ports } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import { withoutSilence } from '../../shared/routing/silence.ts';
import type { EventOf, SessionEvent } from '../../shared/session/events.ts';
import type { CommandAnswer, RecordedCommit } from '../../shared/wire/envelope.ts';
import type { EventFeed } from './event-feed.ts';
import { readable } from './history.ts';

/** What became of a run so far (A10/118–121). A run is a command and, for a message, the turn that answers it: they share the id. */
interface Failure {
  readonly code: string;
  readonly message: string;
}
export type Run =
  | { readonly runId: string; readonly status: 'accepted' | 'scheduled' | 'queued' | 'running' }
  /** `reply` is as people get to see it, empty for a silent one (A6/77), and `null` where the command asks for none. */
  | { readonly runId: string; readonly status: 'ok'; readonly reply: string | null }
  | { readonly runId: string; readonly status: 'error'; readonly error: Failure }
  /** The caller waited long enough; the run goes on. */
  | { readonly runId: string; readonly status: 'timeout'; readonly error: Failure };

const isOver = (run: Run | null): run is Extract<Run, { status: 'ok' | 'error' }> =>
  run?.status === 'ok' || run?.status === 'error';

const failed = (runId: string, code: string, message: string): Run => ({ runId, status: 'error', error: { code, message } });

const refusals: Readonly<Record<EventOf<'message_refused'>['code'], string>> = {
  session_busy: 'another turn is running, and this session does not queue; try again later',
  queue_full: 'too many messages wait in this session; try again later',
  session_deleted: 'the session in which this was planned was deleted',
};

/** What one event says about a run; the run as it was if it is about something else. Exhaustive, so that a new event must decide. */
const afterEvent = (run: Run | null, event: SessionEvent, runId: string): Run | null => {
  switch (event.type) {
    case 'turn_queued':
      return event.turn.id === runId ? { runId, status: 'queued' } : run;
    case 'turn_joined':
      return event.runId === runId ? { runId, status: 'running' } : run;
    case 'tool_call_started':
    case 'tool_result':
    case 'turn_started':
    case 'turn_resumed':
    case 'model_step':
    case 'approval_requested':
    case 'approval_resolved':
      return event.turn.id === runId ? { runId, status: 'running' } : run;
    case 'assistant_message':
      return event.turn.id === runId ? { runId, status: 'ok', reply: withoutSilence(event.text) } : run;
    case 'turn_completed':
      return event.turn.id === runId && !isOver(run) ? { runId, status: 'ok', reply: null } : run;
    case 'turn_failed':
      return event.turn.id === runId ? failed(runId, event.code, event.message) : run;
    case 'turn_aborted':
      return event.turn.id === runId ? failed(runId, 'aborted', event.reason) : run;
    case 'queue_cleared':
      return event.turnIds.includes(runId) ? failed(runId, 'aborted', event.reason) : run;
    case 'session_deleted':
      return event.turnIds.includes(runId) ? failed(runId, 'aborted', event.reason) : run;
    case 'message_refused':
      return event.turnId === runId ? failed(runId, event.code, refusals[event.code]) : run;
    case 'session_opened':
    case 'session_reopened':
    case 'user_message':
    case 'session_reset':
    case 'session_deactivated':
    case 'participant_resolved':
    case 'origin_changed':
    case 'route_changed':
    case 'settings_changed':
    case 'notice':
    case 'checkpoint_requested':
    case 'prompt_changed':
    case 'tool_output':
    case 'context_compacted':
    case 'runs_stopped':
      return run;
    default:
      return assertNever(event);
  }
};

/** The run after a commit. A command that starts no turn is over with its commit; what Natter says to it is its reply (A11). */
const afterCommitOf = (before: Run | null, commit: RecordedCommit, runId: string): Run | null => {
  const run = commit.events.reduce((known: Run | null, event) => afterEvent(known, event, runId), before);
  if (run !== null || commit.command.id !== runId) return run;
  const told = commit.events.find((event) => event.type === 'notice');
  return { runId, status: 'ok', reply: told?.notice.text ?? null };
};

/** A run as the log has it up to a sequence. */
interface Found {
  readonly run: Run | null;
  readonly seq: number;
}

/** What whoever asks for a run that is not found may do. */
export const olderRuns = 'of a long session only the latest runs are looked for; older ones are read with its messages';

/** Finds runs in the log and waits for them, on whichever replica is asked (A10/122). */
export class Runs {
  readonly #ports: Ports;
  readonly #feed: EventFeed;
  readonly #clock: Clock;
  /** Runs this replica accepted lately: they may not be in the log yet. */
  readonly #accepted = new LRUCache<string, Run>({ max: limits.waitingCalls });

  constructor(ports: Ports, feed: EventFeed) {
    this.#ports = ports;
    this.#feed = feed;
    this.#clock = ports.clock;
  }

  note(key: SessionKey, run: Run): void {
    this.#accepted.set(`${key} ${run.runId}`, run);
  }

  /** The run as it is now; `null` if nothing is known of it after the sequence `after`. */
  async status(key: SessionKey, runId: string, after = 0): Promise<Run | null> {
    return (await this.#find(key, runId, after)).run ?? this.#accepted.get(`${key} ${runId}`) ?? null;
  }

  /** The run once it is over, or as it is after `waitMs` (`null`: unknown still). */
  async await(
    key: SessionKey,
    runId: string,
    { after = 0, waitMs, signal }: { after?: number; waitMs: number; signal: AbortSignal },
  ): Promise<Run | null> {
    const found = await this.#find(key, runId, after);
    const run = await this.#follow(key, runId, found, waitMs, signal);
    return run ?? this.#accepted.get(`${key} ${runId}`) ?? null;
  }

  /**
   * The outcome of a command that was just published. `after`: the feed's position before that. `answer`: what its host said; it alone
   * tells of a refusal, or that the command was a repeat, which records nothing new. `seen`: what was recorded up to there is not told.
   */
  async outcome(
    key: SessionKey,
    runId: string,
    wait: {
      after: number;
      seen: number;
      waitMs: number;
      signal: AbortSignal;
      answer: Promise<CommandAnswer | null>;
      duplicate: boolean;
    },
  ): Promise<Run> {
    const { after, seen, waitMs, answer, duplicate } = wait;
    const over = new AbortController();
    const signal = AbortSignal.any([wait.signal, over.signal]);
    const repeated = async () => this.#follow(key, runId, await this.#find(key, runId, seen), waitMs, signal);
    const recorded = duplicate ? repeated() : this.#follow(key, runId, { run: null, seq: after }, waitMs, signal);
    const answered = answer.then(async (told): Promise<Run | null> => {
      if (told?.outcome === 'refused') return failed(runId, told.code ?? 'refused', told.message ?? 'the session refuses this');
      if (told?.outcome !== 'duplicate') return recorded;
      const { run } = await this.#find(key, runId, seen);
      if (run !== null) return isOver(run) ? run : recorded;
      return failed(runId, 'duplicate_message', 'a message with this messageId is in the session already; nothing was added');
    });
    const message = "no outcome yet; the run goes on: ask for it again, or read the session's messages";
    const timeout: Run = { runId, status: 'timeout', error: { code: 'timeout', message } };
    try {
      const run = await Promise.race([recorded, answered]);
      return isOver(run) ? run : timeout;
    } catch (error) {
      // The command is stored by now: a 503 would make the caller send it again.
      if (hasCode(error, 'unavailable')) return timeout;
      throw error;
    } finally {
      over.abort();
    }
  }

  /**
   * Reads the recent part of the history, where people look, and all of it only where it is short: anybody may make up an id, and a long
   * log is not read for that.
   */
  async #find(key: SessionKey, runId: string, oldest = 0): Promise<Found> {
    const { events, snapshots } = this.#ports;
    const position = (await snapshots.get(key))?.position;
    const first = position?.window[0] ?? position?.seq ?? 1;
    const recent = Math.max(oldest, first - 1);
    const isShort = (position?.rev ?? 0) <= limits.runSearchCommits;
    const readAfter = async (after: number): Promise<Found> => {
      let found: Found = { run: null, seq: after };
      for await (const commit of events.read(key, { after })) {
        found = { run: afterCommitOf(found.run, commit, runId), seq: commit.seq };
      }
      return found;
    };
    const found = await readable(readAfter(recent));
    return found.run === null && recent > oldest && isShort ? readable(readAfter(oldest)) : found;
  }

  async #follow(key: SessionKey, runId: string, found: Found, waitMs: number, cancel: AbortSignal): Promise<Run | null> {
    if (isOver(found.run)) return found.run;
    let known: Run | null = found.run;
    const expired = new AbortController();
    const signal = AbortSignal.any([cancel, expired.signal]);
    void this.#clock.sleep(waitMs, signal).then(() => expired.abort());
    try {
      for await (const commit of this.#feed.follow({ after: found.seq, key, signal })) {
        known = afterCommitOf(known, commit, runId);
        if (isOver(known)) return known;
      }
      return known;
    } finally {
      expired.abort();
    }
  }
}
