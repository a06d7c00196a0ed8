import type { Config } from '../../../shared/domain/config/schema.ts';
import type { Logger } from '../../../shared/kit/log.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Model } from '../../../shared/ports/model.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { startDispatch } from './dispatch.ts';
import { startWorker } from './worker.ts';

export type IntrospectionPorts = Pick<
  Ports,
  'clock' | 'events' | 'index' | 'cursors' | 'leases' | 'commands' | 'answers' | 'checkpoints' | 'memory'
>;
export interface IntrospectionOptions {
  readonly config: Config;
  readonly ports: IntrospectionPorts;
  readonly log: Logger;
  readonly member: string;
  readonly model: Model;
}

/** Starts introspection: one process finds checkpoint requests in the log, all processes share the work (A7/80–84). */
export const startIntrospection = async (options: IntrospectionOptions): Promise<Omit<Service, 'name'>> => {
  const view = await options.ports.memory.watch();
  const worker = await startWorker({ ...options, view });
  const dispatch = startDispatch(options);
  return {
    problems: () => [...dispatch.problems(), ...worker.problems()],
    warnings: () => worker.warnings?.() ?? [],
    metrics: () => ({ ...dispatch.metrics(), ...worker.metrics() }),
    stop: async (deadlineMs) => {
      await Promise.all([dispatch.stop(deadlineMs), worker.stop(deadlineMs)]);
      await view.close();
    },
  };
};
