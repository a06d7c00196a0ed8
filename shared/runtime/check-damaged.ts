import { sessionKey } from '../domain/keys/session-key.ts';
import type { Ports } from '../ports/index.ts';
import type { Damage } from './scrub-log.ts';

/** Has the hosts of damaged sessions look, too, and set them aside until a person decides (F13). Rejects as the queue does. */
export const checkDamaged = async (
  { commands, clock }: Pick<Ports, 'commands' | 'clock'>,
  damages: readonly Damage[],
  actor: string,
): Promise<void> => {
  for (const damage of damages) {
    const key = sessionKey.parse(damage.key);
    const id = `check ${key} ${clock.now()}`;
    const data = { type: 'check_history' } as const;
    await commands.publish({ id, key, at: clock.now(), correlationId: id, causationId: id, actor, data });
  }
};
