import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { HealthReport } from '../../../shared/ports/presence.ts';
import { seesAllOnly } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';

interface Holder {
  readonly process: string;
  readonly since: number;
}

/** Who holds each partition. Two may report the same one while it is handed over: the later one has it. */
const holdersOf = (reports: readonly HealthReport[]): ReadonlyMap<number, Holder> => {
  const holders = new Map<number, Holder>();
  for (const { process, services } of reports)
    for (const { since, partitions } of services.flatMap(({ held = [] }) => held))
      for (const partition of partitions)
        if (since >= (holders.get(partition)?.since ?? 0)) holders.set(partition, { process, since });
  return holders;
};

const processOf = ({ process, version, startedAt, at, services }: HealthReport) => ({
  ...{ process, version, startedAt, reportedAt: at },
  services: services.map(({ name, member, problems, warnings, metrics }) => ({
    ...{ name, ...(member !== undefined && { member }) },
    ...{ problems, warnings, metrics },
  })),
});

/** Every process, and which of them holds which partition. Reports are up to three seconds old, and a killed process is gone after ten. */
export const listHosts = async (call: Call, { key }: { readonly key?: SessionKey | undefined }) => {
  seesAllOnly(call.caller.principal, 'where the work is done');
  const { presence, commands } = call.context.ports;
  const { partitions: count } = call.context.config.nats;
  const [reports, lags] = await Promise.all([presence.list(), commands.lagByPartition().catch(() => null)]);
  const holders = holdersOf(reports);
  const partitions = Array.from({ length: lags?.length ?? count }, (_, partition) => {
    const { process = null, since } = holders.get(partition) ?? {};
    return { partition, process, ...(since !== undefined && { since }), waiting: lags?.[partition] ?? null };
  });
  const processes = reports.map(processOf).sort((one, other) => one.startedAt - other.startedAt);
  return { processes, partitions, ...(key !== undefined && { ofKey: commands.partitionOf(key) }) };
};
