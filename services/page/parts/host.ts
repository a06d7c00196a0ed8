const prefix = 'host:';

/** Whether an actor is a host; everybody else is a person or a program. */
export const isHost = (actor: string): boolean => actor.startsWith(prefix);

/** The name of the host that an actor is. */
export const hostOf = (actor: string): string => (isHost(actor) ? actor.slice(prefix.length) : actor);
