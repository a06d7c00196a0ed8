import { expect, test } from 'vitest';
import { offeredTools } from '../../../../shared/adapters/mcp/offered.ts';

const inputSchema = {
  type: 'object' as const,
  properties: {
    path: { type: 'string', pattern: '^(a+)+$' },
    mode: { enum: ['read', 'write'] },
    lines: { type: 'array', items: { type: 'integer' } },
    more: { type: ['object', 'null'], required: ['id'], additionalProperties: false, properties: { id: { const: 1 } } },
    any: { $ref: '#/nowhere', type: 'string', anyOf: [{ type: 'string' }] },
    odd: { type: 'toString' },
  },
  required: ['path'],
};

test.each([
  [{ path: 'x', mode: 'read', lines: [1, 2], more: { id: 1 }, any: 7, odd: 1, other: true }, null],
  [{ path: 'x', more: null }, null],
  [{ path: `${'a'.repeat(60)}!` }, null],
  [undefined, 'path: is missing'],
  [[], 'use an object'],
  [{ mode: 'read' }, 'path: is missing'],
  [{ path: 1 }, 'path: must be of type string'],
  [{ path: 'x', mode: 'delete' }, 'mode: must be one of ["read","write"]'],
  [{ path: 'x', lines: [1, 1.5] }, 'lines[1]: must be of type integer'],
  [{ path: 'x', more: 'x' }, 'more: must be of type object or null'],
  [{ path: 'x', more: {} }, 'more.id: is missing'],
  [{ path: 'x', more: { id: 2 } }, 'more.id: must be 1'],
  [{ path: 'x', more: { id: 1, toString: 1 } }, 'more.toString: is not known'],
])('nobody is asked about a call of an MCP tool whose arguments its schema refuses: %j', (given, fault) => {
  const { tools } = offeredTools('files', [{ name: 'read', inputSchema }], async () => ({ outcome: 'ok', text: '' }));
  expect(tools[0]?.faultIn?.(given)).toBe(fault === null ? null : `wrong arguments: ${fault}`);
});
