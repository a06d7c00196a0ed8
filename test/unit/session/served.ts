import { expect } from 'vitest';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Consumption } from '../../../shared/ports/work-queue.ts';
import { command } from '../../support/domain/given.ts';
import { homeKey, post, type Rig, type RigOptions, rig } from './rig.ts';

/** A host that takes its commands from the queue, and may be replaced by another from one moment to the next. */
export interface Served extends Rig {
  say(id: string, key?: typeof homeKey): Promise<void>;
  ask(asked: string | Partial<CommandEnvelope>): Promise<void>;
  /** The process is gone. */
  crash(change?: Partial<RigOptions>): Promise<void>;
  /** Checkpoint requests, with the time of each. */
  requests(key?: typeof homeKey): { readonly reason: string; readonly at: number }[];
}

export const serve = async (options: RigOptions = {}): Promise<Served> => {
  const made = rig(options);
  let life = 0;
  let consumption: Consumption | null = null;
  const begin = async (): Promise<void> => {
    const { host } = made;
    consumption = await made.system.commands.consume({ member: `host-${++life}`, handle: (delivery) => host.handle(delivery) });
  };
  await begin();
  let asked = 0;
  return Object.assign(made, {
    say: async (id: string, key = homeKey) => {
      await made.ports.commands.publish({ ...post('hello', id, key), at: made.clock.now() });
      await made.clock.pass(10);
    },
    ask: async (wish: string | Partial<CommandEnvelope>) => {
      const envelope = typeof wish === 'string' ? command(wish, `asked-${++asked}`) : { ...command('open'), ...wish };
      await made.ports.commands.publish({ ...envelope, key: homeKey, at: made.clock.now() });
      await made.clock.pass(10);
    },
    crash: async (change: Partial<RigOptions> = {}) => {
      expect(consumption).not.toBeNull();
      made.system.commands.crash(`host-${life}`);
      made.host.close();
      made.restart(change);
      await begin();
    },
    requests: (key = homeKey) =>
      made.system.events
        .stored()
        .flatMap(({ key: of, events, at }) =>
          of === key
            ? events.flatMap((event) => (event.type === 'checkpoint_requested' ? [{ reason: event.reason, at }] : []))
            : [],
        ),
  });
};
