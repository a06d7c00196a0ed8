import { NatterError } from '../../../../shared/kit/errors.ts';
import { checkChange } from '../../commands/envelope.ts';
import { checkServed } from '../../context/serving.ts';
import { checked } from '../../http/input.ts';
import type { Call, Method, Operation } from '../../operation/operation.ts';

/** Calls by name (A12/131), by whatever protocol. */

export type Methods = Readonly<Record<string, Method>>;

/** The operations that have a name here. */
export const methodsOf = (operations: readonly Operation[]): Methods =>
  Object.fromEntries(operations.flatMap(({ rpc }) => (rpc ? [[rpc.name, rpc] as const] : [])));

/** A validated call. `run` throws as `checkServed` and `checkChange`. */
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
    checkServed(call.context, found.changes);
    checkChange(call.caller.principal, found.changes);
    return found.run(call, parameters);
  };
  return { waits: found.waitMs(parameters) > 0, run };
};
