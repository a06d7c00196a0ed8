import type { World } from './terminal.ts';

/** The user of this machine, as the actor in commits and in the audit trail. */
export const operatorOf = ({ env }: Pick<World, 'env'>): string => `operator:${env.USER ?? env.USERNAME ?? 'unknown'}`;
