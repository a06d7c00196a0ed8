import { deliveryService } from '../../../shared/ports/dead-letters.ts';
import type { HealthReport } from '../../../shared/ports/presence.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { SessionCounts } from '../context/session-list.ts';

/** The health of the whole system, for its operator. `null`: the broker did not answer. */
export interface Overview {
  /** The processes that report, each with the problems of its services. */
  readonly processes:
    | readonly {
        readonly process: string;
        readonly version: string;
        readonly startedAt: number;
        readonly services: readonly Pick<HealthReport['services'][number], 'name' | 'problems' | 'warnings'>[];
      }[]
    | null;
  readonly counts: SessionCounts['sessions'];
  readonly turnsRunning: number;
  readonly pendingApprovals: SessionCounts['approvals'];
  /** Messages not yet processed. */
  readonly queues: Readonly<Record<'commands' | 'inbound' | 'checkpoints', number | null>>;
  /** Outgoing messages taken from the log and not yet in a final state. */
  readonly deliveriesInHand: number;
  readonly deadLetters: number | null;
  /** Those of them that are outgoing messages which may not have arrived (D12). */
  readonly openDeliveries: number | null;
}

const orNull = <T>(asked: Promise<T>): Promise<T | null> => asked.catch(() => null);

/** A metric of all services of one name, summed over the processes. */
const sumOf = (reports: readonly HealthReport[], service: string, metric: string): number =>
  reports
    .flatMap(({ services }) => services.filter(({ name }) => name === service))
    .reduce((sum, { metrics }) => sum + (metrics[metric] ?? 0), 0);

/** Asks the broker and the index. Never rejects. */
export const overviewOf = async ({ ports, sessions }: GatewayContext): Promise<Overview> => {
  const [reports, commands, inbound, checkpoints, deadLetters, openDeliveries] = await Promise.all([
    orNull(ports.presence.list()),
    orNull(ports.commands.lag()),
    orNull(ports.inbound.lag()),
    orNull(ports.checkpoints.lag()),
    orNull(ports.deadLetters.count()),
    orNull(ports.deadLetters.count(deliveryService)),
  ]);
  const counted = sessions.counts();
  return {
    processes:
      reports?.map(({ process, version, startedAt, services }) => ({
        ...{ process, version, startedAt },
        services: services.map(({ name, problems, warnings }) => ({ name, problems, warnings })),
      })) ?? null,
    counts: counted.sessions,
    turnsRunning: sumOf(reports ?? [], 'session', 'turns_running'),
    pendingApprovals: counted.approvals,
    queues: { commands, inbound, checkpoints },
    deliveriesInHand: sumOf(reports ?? [], 'delivery', 'in_hand'),
    deadLetters,
    openDeliveries,
  };
};
