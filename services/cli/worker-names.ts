/** The services that work from the broker alone; the gateway needs a token and a port as well. In the order they are started. */
export const workerNames = ['session', 'router', 'checkpoint', 'delivery'] as const;
export type WorkerName = (typeof workerNames)[number];
export type ServiceName = WorkerName | 'gateway';

/** The services that nobody of these runs. Who starts hosts is none of them: they may hang while it lives. */
export const absentAmong = (names: ReadonlySet<string>): ServiceName[] =>
  [...workerNames, 'gateway' as const].filter((name) => !names.has(name));
