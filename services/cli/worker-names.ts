/** The services that work from the broker alone; the gateway needs a token and a port as well. In the order they are started. */
export const workerNames = ['session', 'router', 'checkpoint', 'delivery'] as const;
export type WorkerName = (typeof workerNames)[number];
export type ServiceName = WorkerName | 'gateway';
