import { setMaxListeners } from 'node:events';
import type { Config } from '../../shared/domain/config/schema.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { runAll } from '../../shared/kit/run-all.ts';
import { traced } from '../../shared/kit/trace.ts';
import type { CustodyState, Outbound } from '../../shared/ports/custody-log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Outlet } from '../../shared/ports/outlet.ts';
import type { Current } from '../../shared/runtime/config/reload.ts';
import { DurableCursor } from '../../shared/runtime/durable-cursor.ts';
import { startLeasedWork, type Tenure } from '../../shared/runtime/leased-work.ts';
import { LogFollower, witnessedPosition } from '../../shared/runtime/log-follower.ts';
import type { Service } from '../../shared/runtime/service.ts';
import { encode } from '../../shared/wire/codec.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { createCourier } from './courier.ts';
import { createCustodian } from './custodian.ts';
import { createErasures } from './erasures.ts';
import { createDeliveryMeters } from './meters.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { sessionOutlet } from './outlets/session.ts';
import { webhookOutlet } from './outlets/webhook.ts';
import { outboundHeadlines, plan } from './plan.ts';
import { deliverySpan } from './span.ts';

export interface DeliveryOptions {
  readonly config: Current<Config>;
  readonly ports: Pick<Ports, 'clock' | 'events' | 'cursors' | 'leases' | 'custody' | 'deadLetters' | 'commands'>;
  readonly log: Logger;
  readonly member: string;
  /** Ways out besides the configured webhooks; one for a webhook's channel takes its place. */
  readonly outlets?: readonly Outlet[];
  /** Chance for the backoff, in 0..1. */
  readonly random?: () => number;
}

/** Name of the lease and of the cursor. */
const name = 'delivery';
/** Milliseconds between two reads of the log, and between two writes of the cursor. */
const readPauseMs = 10;
const cursorPauseMs = 250;

/** Sends what the log says is to be sent, with a record of custody before and after each attempt (ADR 4). */
export const startDelivery = async (options: DeliveryOptions): Promise<Service> => {
  const { config, ports, log, member } = options;
  const between = sessionOutlet({ config: () => config.current(), ...ports });
  const outlets = [...webhooksOf(options), ...(options.outlets ?? []), between];
  const meters = createDeliveryMeters(ports.clock);
  const subjects = subjectsUnder(config.current().prefix);
  const erasures = createErasures();
  let outbox: Outbox | null = null;

  const giveUp = (outbound: Outbound, reason: string): Promise<void> =>
    ports.deadLetters.put({
      id: outbound.id,
      service: name,
      reason,
      subject: subjects.delivery('failed', outbound.target),
      at: ports.clock.now(),
      bytes: encode(outbound),
    });

  const openOutbox = (after: number, { held, stopping }: Pick<Tenure, 'held' | 'stopping'>): Outbox => {
    const { clock, custody } = ports;
    const random = options.random ?? Math.random;
    const custodian = createCustodian({ custody, clock, random, member, held });
    const marked = ({ state }: { state: CustodyState }, outbound: Outbound) => meters.marked(state, outbound);
    const { revised } = erasures;
    const carry = createCourier({ outlets, custodian, clock, random, log, held, stopping, giveUp, marked, revised });
    const observed = async (outbound: Outbound): Promise<boolean> =>
      (await traced(
        () => deliverySpan(outbound),
        () => meters.timed(outbound, () => carry(outbound)),
      )) !== 'left';
    return createOutbox({ after, held, carry: observed });
  };

  const work = async ({ held, stopping, healthy }: Tenure): Promise<void> => {
    const cursor = new DurableCursor(ports.cursors, name);
    const follower = new LogFollower({
      events: ports.events,
      start: () => witnessedPosition(ports, name, cursor.load),
      headlines: outboundHeadlines,
      readPauseMs,
    });
    const after = await follower.start();
    const over = new AbortController();
    const hard = AbortSignal.any([held, over.signal]);
    const soft = AbortSignal.any([stopping, over.signal]);
    setMaxListeners(limits.deliveryWindow, hard, soft);
    const current = openOutbox(after, { held: hard, stopping: soft });
    outbox = current;
    healthy();

    const save = async (): Promise<void> => {
      if (!held.aborted) await cursor.save(current.position());
    };
    const read = (until: AbortSignal): Promise<void> =>
      follower.run(until, (commit) => {
        erasures.note(commit);
        return current.accept(commit.seq, plan(commit, config.current().session.sendPolicy));
      });
    const keepCursor = async (until: AbortSignal): Promise<void> => {
      while (!until.aborted) {
        await ports.clock.sleep(cursorPauseMs, until);
        await save().catch((error: unknown) => log.debug({ err: error }, 'the delivery cursor waits to be written'));
      }
    };
    try {
      await runAll(stopping, read, keepCursor);
      await current.settled();
      await save();
    } finally {
      over.abort();
    }
  };

  const leased = startLeasedWork({ name, member, leases: ports.leases, clock: ports.clock, log, work });
  return {
    name,
    problems: leased.problems,
    series: meters.series,
    metrics: () => ({
      active: leased.active() ? 1 : 0,
      position: outbox?.position() ?? 0,
      in_hand: outbox?.inHand() ?? 0,
      conversations: outbox?.conversations() ?? 0,
    }),
    stop: leased.stop,
  };
};

const webhooksOf = ({ config, ports }: DeliveryOptions): Outlet[] =>
  Object.entries(config.current().outlets.webhooks).map(([channel, webhook]) =>
    webhookOutlet({ channel, ...webhook, clock: ports.clock }),
  );
