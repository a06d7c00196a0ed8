import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import {
  sessionsHistoryParameters,
  sessionsHistoryResult,
  sessionsListParameters,
  sessionsListResult,
  sessionsSendParameters,
  sessionsSendResult,
} from '../../../shared/domain/projections/schemas.ts';
import { resolveApproval } from '../approvals.ts';
import { type Call, type Method, method, reading } from '../rpc.ts';
import { answerFields, approvalsList, approvalsListParameters, approvalsResolveParameters } from '../rpc-approvals.ts';
import { sessionsHistory } from '../session-tools/history.ts';
import { sessionsList } from '../session-tools/list.ts';
import { sessionsSend } from '../session-tools/send.ts';
import { eventsWait, eventsWaitParameters } from './events-wait.ts';

/** What MCP clients are offered: the session tools (A10/100–121) and, for clients that watch and decide, events and approvals (A5/62). */

interface Offered extends Method {
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly result?: z.ZodType;
}

const readOnly: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const doing: ToolAnnotations = { readOnlyHint: false, idempotentHint: false, openWorldHint: true };

const approvalsRespondParameters = z.strictObject({
  approvalId: approvalsResolveParameters.shape.approvalId,
  decision: answerFields.verdict.describe('"allow-always": the same tool with the same arguments, until the session is reset.'),
  reason: answerFields.reason.describe('The agent is told it.'),
  sessionKey: answerFields.sessionKey.describe('The session that asks, where the list does not have it yet.'),
});
const approvalsRespond = (
  { context, asker }: Call,
  { decision: verdict, ...answer }: z.infer<typeof approvalsRespondParameters>,
): Promise<unknown> => resolveApproval(context, asker, { ...answer, verdict });

const seconds = ({ timeoutSeconds }: { readonly timeoutSeconds: number }): number => timeoutSeconds;

/** The tools by name. */
export const tools: Readonly<Record<string, Offered>> = {
  sessions_list: {
    ...reading(sessionsListParameters, ({ context, asker }, given) => sessionsList(context, asker, given)),
    description: 'Lists the sessions (conversations) you may see, the last active first, on request with their last messages.',
    annotations: readOnly,
    result: sessionsListResult,
  },
  sessions_history: {
    ...reading(sessionsHistoryParameters, ({ context, asker }, given) => sessionsHistory(context, asker, given)),
    description: 'The last messages of a session, oldest first.',
    annotations: readOnly,
    result: sessionsHistoryResult,
  },
  sessions_send: {
    ...method(
      sessionsSendParameters,
      ({ context, asker, signal }, given) => sessionsSend(context, asker, given, signal),
      seconds,
    ),
    description:
      'Sends a message to the agent of a session and waits for its answer. After "timeout" it goes on: read the history later.',
    annotations: { ...doing, destructiveHint: false },
    result: sessionsSendResult,
  },
  events_wait: {
    ...reading(eventsWaitParameters, eventsWait, seconds),
    description:
      'Waits for what happens: messages, steps, tools, approvals. Call it again with "after" set to "next" and miss nothing.',
    annotations: readOnly,
  },
  approvals_list: {
    ...reading(approvalsListParameters, approvalsList),
    description: 'Lists the calls of tools that wait for a person to allow them, newest first.',
    annotations: readOnly,
  },
  approvals_respond: {
    ...method(approvalsRespondParameters, approvalsRespond, undefined, 'approvals'),
    description: 'Answers a call that waits. For a person who has decided: what is allowed is done.',
    annotations: { ...doing, destructiveHint: true },
  },
};

const schemaOf = (schema: z.ZodType, io: 'input' | 'output') =>
  ({ ...z.toJSONSchema(schema, { io }), type: 'object' }) as Tool['inputSchema'];

/** The tools as clients are told of them. */
export const toolList: Tool[] = Object.entries(tools).map(([name, { description, annotations, parameters, result }]) => ({
  ...{ name, description, annotations },
  inputSchema: schemaOf(parameters, 'input'),
  ...(result && { outputSchema: schemaOf(result, 'output') }),
}));
