import type { EventType, Interrupt, Message } from '@ag-ui/core';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { assertNever } from '../../../../shared/kit/assert.ts';
import type { AskedCall, RunEnd, RunEvent } from '../../runs/run-event-stream.ts';
import type { RunFrames } from '../../runs/stream-run.ts';
import { resultMessage } from './messages.ts';

/** A run as events of AG-UI 1.0. */

/** The version that these events are of. */
const protocolVersion = '1.0';

const event = (type: `${EventType}`, data: object): string => `data: ${JSON.stringify({ type, ...data })}\n\n`;

/** The schema of an answer to an approval. */
const responseSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'whether the call may run' },
    always: { type: 'boolean', description: 'not to be asked again about the same call' },
    reason: { type: 'string', description: 'why not, for the model' },
  },
  required: ['approved'],
};

const interruptOf = ({ approvalId: id, callId, action, tool, asks, expiresAt }: AskedCall): Interrupt => ({
  ...{ id, reason: 'tool_call', message: action, toolCallId: callId, responseSchema },
  expiresAt: new Date(expiresAt).toISOString(),
  metadata: { tool, asks },
});

/** Names of the thread and the run as the client knows them. */
export interface AguiHead {
  readonly threadId: string;
  readonly runId: string;
  readonly sessionKey: SessionKey;
}

/** Tokens of the model calls in this stream, without those before the interrupt. */
const usageOf = ({ model, tokens, earlier }: RunEnd) => ({
  ...(model !== null && { model }),
  inputTokens: tokens.input - earlier.input,
  outputTokens: tokens.output - earlier.output,
  totalTokens: tokens.total - earlier.total,
});

const endOf = ({ threadId, runId, sessionKey }: AguiHead, end: RunEnd): string => {
  const { run, asked, sessionId } = end;
  const usage = [usageOf(end)];
  const finished = (outcome: object): string => {
    const result = { sessionKey, sessionId, runId: run.runId };
    return event('RUN_FINISHED', { threadId, runId, outcome, result, usage });
  };
  // The application runs its own tools, and comes back with another run.
  if (run.status === 'ok' || run.status === 'awaiting_results') return finished({ type: 'success' });
  if (run.status === 'awaiting_approval') {
    return finished({ type: 'interrupt', interrupts: asked === null ? [] : [interruptOf(asked)] });
  }
  const { code, message } = run.error;
  return code === 'aborted' ? finished({ type: 'cancelled' }) : event('RUN_ERROR', { message, code, usage });
};

export const aguiEvents = (head: AguiHead): RunFrames => {
  const frameOf = (told: RunEvent): string => {
    switch (told.type) {
      case 'step_begun':
        return event('STEP_STARTED', { stepName: `step ${told.step}` });
      case 'step_ended':
        return event('STEP_FINISHED', { stepName: `step ${told.step}` });
      case 'text_begun':
        return event('TEXT_MESSAGE_START', { messageId: told.messageId, role: 'assistant' });
      case 'text':
        return event('TEXT_MESSAGE_CONTENT', { messageId: told.messageId, delta: told.text });
      case 'text_ended':
        return event('TEXT_MESSAGE_END', { messageId: told.messageId });
      case 'call': {
        const { callId: toolCallId, tool: toolCallName, arguments: delta, messageId: parentMessageId } = told;
        const given = delta === '' ? '' : event('TOOL_CALL_ARGS', { toolCallId, delta });
        const begun = event('TOOL_CALL_START', { toolCallId, toolCallName, parentMessageId });
        return begun + given + event('TOOL_CALL_END', { toolCallId });
      }
      case 'result': {
        const { id: messageId, ...message } = resultMessage(told);
        return event('TOOL_CALL_RESULT', { messageId, ...message });
      }
      // The outcome carries the request.
      case 'approval':
      case 'handed_over':
        return '';
      case 'end':
        return endOf(head, told);
      default:
        return assertNever(told);
    }
  };
  const { threadId, runId, sessionKey } = head;
  return {
    begin: () => event('RUN_STARTED', { threadId, runId, protocolVersion, metadata: { sessionKey } }),
    tell: (events) => events.map(frameOf).join(''),
    fail: (message, code) => event('RUN_ERROR', { message, code }),
    done: '',
  };
};

/** A thread that is loaded again: what was said, then the run that goes on, if there is one. */
export const aguiHistory = (head: AguiHead, messages: readonly Message[], isIdle: boolean): RunFrames => {
  const frames = aguiEvents(head);
  const { threadId, runId, sessionKey } = head;
  const end = { threadId, runId, outcome: { type: 'success' }, result: { sessionKey } };
  const finished = isIdle ? event('RUN_FINISHED', end) : '';
  return { ...frames, begin: () => frames.begin() + event('MESSAGES_SNAPSHOT', { messages }) + finished };
};
