import type { Config } from '../../shared/domain/config/schema.ts';
import type { Logger } from '../../shared/kit/log.ts';
import { traced } from '../../shared/kit/trace.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Outlet } from '../../shared/ports/outlet.ts';
import type { Current } from '../../shared/runtime/config/reload.ts';
import { startLeasedWork } from '../../shared/runtime/leased-work.ts';
import type { Service } from '../../shared/runtime/service.ts';
import { type DeliverySignals, deliver, serviceName } from './deliver.ts';
import { createDeliveryLog } from './delivery-log.ts';
import { createDeliveryWorker, type Delivered } from './delivery-worker.ts';
import { createErasures, type Erasures } from './erasures.ts';
import { createDeliveryMeters, type DeliveryMeters } from './meters.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { sessionOutlet } from './outlets/session.ts';
import { webhookOutlet } from './outlets/webhook.ts';
import { ParkedAccounts } from './parked-accounts.ts';
import { createReport } from './report.ts';
import { deliverySpan } from './span.ts';

export interface DeliveryOptions {
  readonly config: Current<Config>;
  readonly ports: Pick<
    Ports,
    'clock' | 'events' | 'cursors' | 'leases' | 'custody' | 'deadLetters' | 'commands' | 'resumeRequests'
  >;
  readonly log: Logger;
  readonly member: string;
  /** Outlets besides the configured webhooks; one for a webhook's channel replaces it. */
  readonly outlets?: readonly Outlet[];
  /** What must not get into a session's log, by way of what an outlet says. */
  readonly secrets?: readonly string[];
  /** Randomness for the backoff, in 0..1. */
  readonly random?: () => number;
}

/** Starts the service that sends what the log says is to be sent, with a custody record before and after each attempt (ADR 4). */
export const startDelivery = async (options: DeliveryOptions): Promise<Service> => {
  const { config, ports, log, member } = options;
  const meters = createDeliveryMeters(ports.clock);
  const erasures = createErasures();
  let accounts = new ParkedAccounts(ports.clock, log);
  const outlets = outletsOf(options);
  let outbox: Outbox | null = null;
  const openOutbox = (after: number, signals: DeliverySignals): Outbox => {
    // Another process may have sent in the meantime.
    accounts = new ParkedAccounts(ports.clock, log);
    const deliverOne = instrumented(workerOf(options, { outlets, erasures, meters, accounts }, signals), meters);
    outbox = createOutbox({ after, held: signals.held, clock: ports.clock, deliver: deliverOne });
    return outbox;
  };
  const sendPolicy = () => config.current().session.sendPolicy;
  const leased = startLeasedWork({
    ...{ name: serviceName, member, leases: ports.leases, clock: ports.clock, log },
    work: (tenure) => deliver({ ports, log, erasures, sendPolicy, openOutbox }, tenure),
  });
  const endResumes = ports.resumeRequests.subscribe((request) => {
    for (const name of accounts.resume(request)) outbox?.wake(name);
  });
  return {
    name: serviceName,
    problems: leased.problems,
    series: meters.series,
    metrics: () => ({
      active: leased.active() ? 1 : 0,
      position: outbox?.position() ?? 0,
      in_hand: outbox?.inHand() ?? 0,
      conversations: outbox?.conversations() ?? 0,
      waiting: outbox?.waiting() ?? 0,
      parked_accounts: leased.active() ? accounts.size : 0,
    }),
    warnings: () => (leased.active() ? accounts.warnings() : []),
    waiting: () => (leased.active() ? (outbox?.waits(accounts.waiting()) ?? []) : []),
    stop: (deadlineMs) => {
      endResumes();
      return leased.stop(deadlineMs);
    },
  };
};

/** The configured webhooks, those of the caller, and the outlet between sessions; of two for one channel the later one counts. */
const outletsOf = ({ config, ports, outlets = [] }: DeliveryOptions): Outlet[] => [
  ...Object.entries(config.current().outlets.webhooks).map(([channel, webhook]) =>
    webhookOutlet({ channel, ...webhook, clock: ports.clock }),
  ),
  ...outlets,
  sessionOutlet({ config: () => config.current(), ...ports }),
];

type DeliverOne = (outbound: Outbound) => Promise<Delivered>;

/** What outlives one run of the loop. */
interface Kept {
  readonly outlets: readonly Outlet[];
  readonly erasures: Erasures;
  readonly meters: DeliveryMeters;
  readonly accounts: ParkedAccounts;
}

const workerOf = (
  options: DeliveryOptions,
  { outlets, erasures, meters, accounts }: Kept,
  { held, stopping }: DeliverySignals,
): DeliverOne => {
  const { log, member, random = Math.random, secrets = [] } = options;
  const { clock, custody } = options.ports;
  return createDeliveryWorker({
    ...{ outlets, clock, random, log, held, stopping, accounts, revised: erasures.revised },
    deliveryLog: createDeliveryLog({ custody, clock, random, member, held }),
    report: createReport({ config: options.config.current(), ports: options.ports, secrets }),
    recorded: ({ state }, outbound) => meters.recorded(state, outbound),
  });
};

/** With a span and the metrics of each delivery. */
const instrumented =
  (deliverOne: DeliverOne, meters: DeliveryMeters): DeliverOne =>
  async (outbound) => {
    let delivered: Delivered = 'left';
    const once = async (): Promise<boolean> => {
      delivered = await deliverOne(outbound);
      return delivered === 'final';
    };
    await traced(
      () => deliverySpan(outbound),
      () => meters.timed(outbound, once),
    );
    return delivered;
  };
