import { z } from 'zod';
import type { Principal } from '../../../shared/domain/access/access.ts';
import { auditKinds } from '../../../shared/domain/access/audit.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { AuditRange } from '../../../shared/ports/audit-log.ts';
import { limitParameter, sequenceParameter } from '../http/input.ts';
import { type Call, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';

const auditQuery = z.object({
  after: sequenceParameter.optional(),
  before: sequenceParameter.optional(),
  limit: limitParameter(100),
  kind: z.enum(auditKinds).optional(),
});

/** Who did, or tried, what concerns security. The owner's; to all others there is nothing here. */
const ownerOrNothing = ({ role }: Principal): void => {
  if (role !== 'owner') throw new NatterError('not_found', 'there is nothing at GET /v1/audit');
};

export const auditOperations: readonly Operation[] = [
  operation(
    async ({ context }: Call, range: AuditRange) => {
      const { after, before } = range;
      if (after !== undefined && before !== undefined)
        throw new NatterError('invalid', 'before: give it, or "after", not both', { field: 'before' });
      const { records, more } = await context.ports.audit.page(range);
      const next = before === undefined ? (records.at(-1)?.seq ?? after) : (records[0]?.seq ?? before);
      return { records, next: String(next ?? 0), more };
    },
    {
      ...{ id: 'readAudit', tag: 'access', changes: 'nothing' },
      summary: 'Pages the audit trail; with `before`, the last records before that one; with neither, the newest',
      http: route({
        ...{ method: 'get', path: '/v1/audit', query: auditQuery },
        answers: { 200: results.audit },
        examples: {
          answer: {
            records: [
              { v: 1, at: samples.at, kind: 'token_created', actor: 'token:api', target: 'a1b2c3d4e5f6', outcome: 'ok', seq: 3 },
            ],
            ...{ next: '3', more: false },
          },
        },
        problems: ['not_found'],
        permit: ownerOrNothing,
        input: ({ query }) => query,
      }),
    },
  ),
];
