/** The services that need only the broker, in the order they start; the gateway also needs a token and a port. */
export const workerNames = ['session', 'router', 'checkpoint', 'delivery'] as const;
export type WorkerName = (typeof workerNames)[number];
export type ServiceName = WorkerName | 'gateway';

/** The services that none of these processes runs. A process that starts hosts does not count as one: its hosts may hang while it lives. */
export const absentAmong = (names: ReadonlySet<string>): ServiceName[] =>
  [...workerNames, 'gateway' as const].filter((name) => !names.has(name));
