import type { CheckpointRequest, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { runAll } from '../../../shared/kit/run-all.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { startLeasedWork, type Tenure } from '../../../shared/runtime/leased-work.ts';
import { witnessLog } from '../../../shared/runtime/log-witness.ts';
import type { Service } from '../../../shared/runtime/service.ts';

export interface DispatchOptions {
  readonly ports: Pick<Ports, 'clock' | 'events' | 'cursors' | 'leases' | 'checkpoints'>;
  readonly log: Logger;
  readonly member: string;
}

/** Name of the lease and of the cursor. */
const name = 'checkpoint-requests';
/** Milliseconds between two reads of the log, and between two writes of the cursor. */
const readPauseMs = 20;
const cursorPauseMs = 250;

/** The checkpoint requests in a commit. Older events have no `afterSeq`. */
export const requestsOf = ({ key, seq, events }: RecordedCommit): CheckpointRequest[] =>
  events.flatMap((event, index) => {
    if (event.type !== 'checkpoint_requested') return [];
    const { reason, sessionId, fromRev, toRev, afterSeq = 0 } = event;
    return [{ id: `${seq}.${index}`, key, sessionId, reason, fromRev, toRev, afterSeq, throughSeq: seq }];
  });

/**
 * Publishes each `checkpoint_requested` event of the log as a message of the queue `checkpoints` (A7/80). The cursor is written
 * after the message is stored: after a crash in between, the same requests are published again and recognised by their ids, or by
 * what is recorded.
 */
export const startDispatch = ({ ports, log, member }: DispatchOptions): Omit<Service, 'name'> => {
  const counts = { introspection_requests_total: 0, introspection_dispatch_position: 0, introspection_dispatch_lag_seconds: 0 };

  const work = async ({ held, stopping, healthy }: Tenure): Promise<void> => {
    const after = await ports.cursors.get(name);
    await witnessLog(ports, name, after);
    counts.introspection_dispatch_position = after;
    let saved = after;
    healthy();

    const save = async (): Promise<void> => {
      const position = counts.introspection_dispatch_position;
      if (held.aborted || position === saved) return;
      await ports.cursors.put(name, position);
      saved = position;
    };
    const read = async (until: AbortSignal): Promise<void> => {
      for await (const commit of ports.events.follow({ after, signal: until, pauseMs: readPauseMs })) {
        for (const request of requestsOf(commit)) {
          await ports.checkpoints.publish(request);
          counts.introspection_requests_total += 1;
        }
        counts.introspection_dispatch_position = commit.seq;
        counts.introspection_dispatch_lag_seconds = Math.max(0, ports.clock.now() - commit.recordedAt) / 1_000;
      }
    };
    const keepCursor = async (until: AbortSignal): Promise<void> => {
      for (; !until.aborted; await ports.clock.sleep(cursorPauseMs, until)) await save();
    };
    // Also after a failure, so that published requests are not published again.
    try {
      await runAll(stopping, read, keepCursor);
    } finally {
      await save();
    }
  };

  const leased = startLeasedWork({ name, member, leases: ports.leases, clock: ports.clock, log, work });
  return {
    problems: leased.problems,
    metrics: () => ({ ...counts, introspection_dispatching: leased.active() ? 1 : 0 }),
    stop: leased.stop,
  };
};
