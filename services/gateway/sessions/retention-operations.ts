import { z } from 'zod';
import { dueSessions, logBytesOf, removedSessions } from '../../../shared/domain/reset/retention.ts';
import { ownersOnly } from '../context/access.ts';
import { limitParameter } from '../http/input.ts';
import { type Call, type Operation, operation } from '../operation/operation.ts';
import { route } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { keysOf } from './list-rows.ts';

/** The sessions that retention has due now, those unused for longest first (B1, D10). Reads no log. */
const readRetention = ({ context: { config, sessions, ports } }: Call, { limit }: { readonly limit: number }) => {
  const { maintenance } = config.session;
  const rows = [...sessions.rows()];
  const due = dueSessions(rows, config.session, ports.clock.now());
  const removed = new Set(removedSessions(due, maintenance));
  const listed = due.slice(0, limit).map((one) => {
    const { row, rule } = one;
    const { seq, interactedAt, messageCount, logBytes } = row;
    return { ...keysOf(row, config), rule, byItself: removed.has(one), seq, interactedAt, messageCount, logBytes };
  });
  return { mode: maintenance.mode, count: due.length, due: listed, logBytes: logBytesOf(rows) };
};

export const retentionResult = z.object({
  mode: z.enum(['report', 'enforce']),
  count: z.int().min(0).describe('of all that are due'),
  due: z.array(
    z.object({
      key: z.string(),
      shownKey: z.string(),
      rule: z
        .enum(['stateless', 'age', 'count', 'bytes'])
        .describe('an unused session of a stateless call, an old one, one too many, or one for which the log has too many bytes'),
      byItself: z.boolean().describe('whether retention deletes it without being asked'),
      seq: z.int().min(1),
      interactedAt: z.number(),
      messageCount: z.int().min(0),
      logBytes: z.int().min(0).optional().describe('that erasing it would free; absent: not known'),
    }),
  ),
  logBytes: z
    .object({
      live: z.int().min(0),
      deleted: z.int().min(0).describe('of deleted sessions, whose history is still there'),
      unknown: z.int().min(0).describe('sessions of an older version, whose bytes are not known'),
    })
    .describe('what sessions take in the log'),
});

export const retentionOperations: readonly Operation[] = [
  operation(readRetention, {
    ...{ id: 'readRetention', tag: 'sessions', changes: 'nothing' },
    summary: 'Lists the sessions that retention has due',
    http: route({
      ...{ method: 'get', path: '/v1/retention', query: z.object({ limit: limitParameter(100) }) },
      answers: { 200: retentionResult },
      examples: {
        answer: {
          ...{ mode: 'report', count: 1 },
          due: [
            {
              ...{ key: samples.key, shownKey: samples.sessionRow.shownKey, rule: 'age', byItself: false },
              ...{ seq: 42, interactedAt: samples.at, messageCount: 2, logBytes: 1_840 },
            },
          ],
          logBytes: { live: 52_400, deleted: 0, unknown: 0 },
        },
      },
      problems: ['forbidden'],
      permit: (principal) => ownersOnly(principal, 'what retention removes'),
      input: ({ query }) => query,
    }),
  }),
];
