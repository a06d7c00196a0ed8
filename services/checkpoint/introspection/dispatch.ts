import type { CheckpointRequest, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { untilBeat } from '../../../shared/kit/clock.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import { runAll } from '../../../shared/kit/run-all.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { DurableCursor } from '../../../shared/runtime/durable-cursor.ts';
import { startLeasedWork, type Tenure } from '../../../shared/runtime/leased-work.ts';
import { LogFollower } from '../../../shared/runtime/log-follower.ts';
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
    const cursor = new DurableCursor(ports, name);
    const follower = new LogFollower({ events: ports.events, start: cursor.load, readPauseMs });
    counts.introspection_dispatch_position = await follower.start();
    healthy();

    const save = async (): Promise<void> => {
      if (!held.aborted) await cursor.save(follower.position);
    };
    const read = (until: AbortSignal): Promise<void> =>
      follower.run(until, async (commit) => {
        for (const request of requestsOf(commit)) {
          await ports.checkpoints.publish(request);
          counts.introspection_requests_total += 1;
        }
        cursor.note(commit);
        counts.introspection_dispatch_position = commit.seq;
        counts.introspection_dispatch_lag_seconds = Math.max(0, ports.clock.now() - commit.recordedAt) / 1_000;
      });
    const keepCursor = async (until: AbortSignal): Promise<void> => {
      for (; !until.aborted; await ports.clock.sleep(untilBeat(ports.clock, cursorPauseMs), until)) await save();
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
