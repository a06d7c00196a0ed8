import { type OperationId, routes } from './routes.ts';

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
type NamesOf<Id extends OperationId> = NamesIn<(typeof routes)[Id]['path']>;

/** The operations whose path has exactly this parameter. */
export type OperationsOf<Name extends string> = {
  [Id in OperationId]: NamesOf<Id> extends never ? never : [NamesOf<Id>, Name] extends [Name, NamesOf<Id>] ? Id : never;
}[OperationId];

/** The method and path of an operation, with each name encoded as one path segment. */
export const operationAt = <Id extends OperationId>(
  id: Id,
  names: Readonly<Record<NamesOf<Id>, string>>,
): readonly [method: string, path: string] => {
  const { method, path } = routes[id];
  const given: Readonly<Record<string, string>> = names;
  return [method, path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''))];
};
