import { expect, test } from 'vitest';
import { restOperationsOf } from '../../../services/gateway/protocols/rest/operations.ts';
import { operations } from '../../../services/gateway/server/operations.ts';
import { table } from './table.ts';

/** `shared/client/routes.ts` is made of the gateway's operation table, so that no address is written twice. */

const made = new Set<string>(Object.values(table).flatMap(({ operations: ids }) => [...ids]));

test('the routes of the client are those of the operation table; `vitest -u` writes them', async () => {
  const lines = restOperationsOf(operations)
    .filter(({ id }) => made.has(id))
    .map(({ id, method, path }) => `  ${id}: { method: '${method.toUpperCase()}', path: '${path}' },`);
  const text = `/** Generated from the gateway's operation table by test/unit/client/routes.test.ts; do not edit. */
export const routes = {
${lines.sort().join('\n')}
} as const;
export type OperationId = keyof typeof routes;
`;
  expect(lines).toHaveLength(made.size);
  await expect(text).toMatchFileSnapshot(new URL('../../../shared/client/routes.ts', import.meta.url).pathname);
});
