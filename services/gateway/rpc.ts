import type { z } from 'zod';
import type { ChangeKind } from '../../shared/domain/access/access.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { type Asker, checkChange } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { checked } from './input.ts';

/** Calls by name (A12/131), whatever door they come in by. */

/** One call: who makes it, and a signal that aborts when the caller has left. */
export interface Call {
  readonly context: GatewayContext;
  readonly asker: Asker;
  readonly signal: AbortSignal;
}

/**
 * A method: what it takes, what it does, and what it may change. `waitMs`: how long a call with these parameters may wait; 0 where it does
 * not.
 */
export interface Method {
  readonly parameters: z.ZodType;
  readonly changes: ChangeKind;
  waitMs(parameters: unknown): number;
  run(call: Call, parameters: unknown): Promise<unknown>;
}

/** Ties a method to the type of its parameters. */
export const method = <T>(
  parameters: z.ZodType<T, unknown>,
  run: (call: Call, parameters: T) => Promise<unknown>,
  waitMs: (parameters: T) => number = () => 0,
  changes: ChangeKind = 'sessions',
): Method => ({
  parameters,
  changes,
  waitMs: (given) => waitMs(given as T),
  run: (call, given) => run(call, given as T),
});

/** A method that changes nothing. */
export const reading = <T>(...[parameters, run, waitMs]: Parameters<typeof method<T>>): Method =>
  method(parameters, run, waitMs, 'nothing');

export type Methods = Readonly<Record<string, Method>>;

/** A call that is understood and can be made. */
export interface Prepared {
  readonly waits: boolean;
  run(call: Call): Promise<unknown>;
}

/** Finds the method and checks its parameters. Throws `NatterError('invalid')` that names the part that is wrong. */
export const prepare = (methods: Methods, name: string, params: unknown): Prepared => {
  const found = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (found === undefined) {
    const known = Object.keys(methods).join(', ');
    throw new NatterError('invalid', `method: there is no "${name}"; known are: ${known}`, { field: 'method' });
  }
  const parameters = checked(found.parameters, params, 'params');
  const run = async (call: Call): Promise<unknown> => {
    checkChange(call.asker.principal, found.changes);
    return found.run(call, parameters);
  };
  return { waits: found.waitMs(parameters) > 0, run };
};
