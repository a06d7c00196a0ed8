import type { RouteDescription } from '../../http/route.ts';
import type { Operation } from '../../operation.ts';

/** An operation as it is called over HTTP. */
export type RestOperation = Pick<Operation, 'id' | 'tag' | 'summary' | 'description'> & RouteDescription;

export const restOperationsOf = (operations: readonly Operation[]): readonly RestOperation[] =>
  operations.flatMap(({ id, tag, summary, description, http }) => (http ? [{ id, tag, summary, description, ...http }] : []));
