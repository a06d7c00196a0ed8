import { setMaxListeners } from 'node:events';
import type { Config } from '../../shared/domain/config/schema.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import { untilBeat } from '../../shared/kit/clock.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { runAll } from '../../shared/kit/run-all.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { DurableCursor } from '../../shared/runtime/durable-cursor.ts';
import type { Tenure } from '../../shared/runtime/leased-work.ts';
import { LogFollower } from '../../shared/runtime/log-follower.ts';
import { outboundHeadlines, plan } from '../../shared/runtime/outgoing/plan.ts';
import type { Erasures } from './erasures.ts';
import type { Outbox } from './outbox.ts';
import type { Reading } from './waiting.ts';

/** Name of the service, of its lease and of its cursor. */
export const serviceName = 'delivery';
/** Milliseconds between two reads of the log, and between two writes of the cursor. */
const readPauseMs = 10;
const cursorPauseMs = 250;
/** Milliseconds between two looks whether something that waited is due. */
const duePauseMs = 1_000;

export interface DeliverOptions {
  readonly ports: Pick<Ports, 'clock' | 'events' | 'cursors'>;
  readonly log: Logger;
  readonly erasures: Erasures;
  /** The send policy in force now. */
  readonly sendPolicy: () => Config['session']['sendPolicy'];
  /** Opens the outbox of one run of the loop; the log is done up to `after`. */
  openOutbox(after: number, signals: DeliverySignals): Outbox;
}
/** `held` aborts when nothing may be sent or written any more, `stopping` when nothing new may begin. */
export type DeliverySignals = Pick<Tenure, 'held' | 'stopping'>;

/**
 * The loop of delivery, for as long as this process holds the lease: reads the log from the cursor on, puts what each commit sends into the
 * outbox, and moves the cursor past the commits that are done (ADR 4).
 */
export const deliver = async (options: DeliverOptions, { held, stopping, healthy }: Tenure): Promise<void> => {
  const { ports, log, erasures, sendPolicy } = options;
  const cursor = new DurableCursor(ports, serviceName);
  const follower = new LogFollower({ events: ports.events, start: cursor.load, headlines: outboundHeadlines, readPauseMs });
  const after = await follower.start();
  const ended = new AbortController();
  const outbox = options.openOutbox(after, signalsUntil(ended.signal, { held, stopping }));
  const saveCursor = async (): Promise<void> => {
    if (!held.aborted) await cursor.save(outbox.position());
  };
  const putIntoOutbox = (commit: RecordedCommit): Promise<void> => {
    erasures.note(commit);
    cursor.note(commit);
    return outbox.accept(commit.seq, plan(commit, sendPolicy()));
  };
  const takeAgain = (commit: RecordedCommit, reading: Reading): Promise<boolean> =>
    outbox.acceptAgain(commit.seq, plan(commit, sendPolicy()), reading);
  healthy();
  try {
    await runAll(
      stopping,
      (until) => follower.run(until, putIntoOutbox),
      (until) => rereadWaiting({ outbox, takeAgain, ports, until }),
      (until) => keepCursor(saveCursor, { clock: ports.clock, log, until }),
    );
    await outbox.settled();
    await saveCursor();
  } finally {
    ended.abort();
  }
};

/** The signals of the lease, which also abort when the loop ends. Every outbound in hand listens to them. */
const signalsUntil = (ended: AbortSignal, { held, stopping }: DeliverySignals): DeliverySignals => {
  const signals = { held: AbortSignal.any([held, ended]), stopping: AbortSignal.any([stopping, ended]) };
  setMaxListeners(limits.deliveryWindow, signals.held, signals.stopping);
  return signals;
};

/** Reads the log again for what had to wait and is due now. */
const rereadWaiting = async ({
  outbox,
  takeAgain,
  ports: { clock, events },
  until,
}: {
  readonly outbox: Outbox;
  takeAgain(commit: RecordedCommit, reading: Reading): Promise<boolean>;
  readonly ports: DeliverOptions['ports'];
  readonly until: AbortSignal;
}): Promise<void> => {
  for (; !until.aborted; await clock.sleep(untilBeat(clock, duePauseMs), until)) {
    const reading = outbox.due(clock.now());
    if (reading === null) continue;
    const options = { after: reading.after, headlines: outboundHeadlines, signal: until, pauseMs: readPauseMs };
    for await (const commit of events.follow(options)) if (!(await takeAgain(commit, reading))) break;
  }
};

const keepCursor = async (
  saveCursor: () => Promise<void>,
  { clock, log, until }: Pick<DeliverOptions, 'log'> & Pick<Ports, 'clock'> & { until: AbortSignal },
): Promise<void> => {
  while (!until.aborted) {
    await clock.sleep(untilBeat(clock, cursorPauseMs), until);
    await saveCursor().catch((error: unknown) => log.debug({ err: error }, 'the delivery cursor could not be written yet'));
  }
};
