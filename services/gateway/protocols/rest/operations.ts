import type { Operation } from '../../operation/operation.ts';
import type { RouteDescription } from '../../operation/route.ts';

/** An operation as it is called over HTTP. */
export type RestOperation = Pick<Operation, 'id' | 'tag' | 'summary' | 'description'> & RouteDescription;

export const restOperationsOf = (operations: readonly Operation[]): readonly RestOperation[] =>
  operations.flatMap(({ id, tag, summary, description, http }) => (http ? [{ id, tag, summary, description, ...http }] : []));
