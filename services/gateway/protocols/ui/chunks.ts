import type { UIMessageChunk } from 'ai';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { assertNever } from '../../../../shared/kit/assert.ts';
import type { RunEnd, RunEvent, RunResult } from '../../runs/run-event-stream.ts';
import type { RunFrames } from '../../runs/stream-run.ts';

/** A run as the UI message stream of the AI SDK 6: chunks of one assistant message. */

const frame = (data: UIMessageChunk): string => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (data: UIMessageChunk): UIMessageChunk[] => [data];

/** The arguments as JSON, or as text if the model's JSON is not valid. */
const inputOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const resultChunk = ({ callId: toolCallId, outcome, text, wasAsked }: RunResult): UIMessageChunk => {
  if (outcome === 'ok') return { type: 'tool-output-available', toolCallId, output: text, ...byAgent };
  if (wasAsked && (outcome === 'denied' || outcome === 'expired')) return { type: 'tool-output-denied', toolCallId };
  return { type: 'tool-output-error', toolCallId, errorText: text, ...byAgent };
};
/** The client does not know the tool and does not run it. */
const byAgent = { dynamic: true, providerExecuted: true } as const;

const metadataOf = (sessionKey: SessionKey, { run, sessionId, tokens: { input, output, total } }: RunEnd) => ({
  ...{ sessionKey, sessionId, runId: run.runId },
  usage: { inputTokens: input, outputTokens: output, totalTokens: total },
});

const endChunks = (sessionKey: SessionKey, end: RunEnd): UIMessageChunk[] => {
  const { run } = end;
  const messageMetadata = metadataOf(sessionKey, end);
  const finishReason = end.isTruncated ? 'length' : 'stop';
  if (run.status === 'ok') return chunk({ type: 'finish', finishReason, messageMetadata });
  if (run.status === 'awaiting_approval' || run.status === 'awaiting_results')
    return chunk({ type: 'finish', finishReason: 'tool-calls', messageMetadata });
  const { code, message } = run.error;
  // Being stopped is not a failure.
  if (code === 'aborted') {
    return [
      { type: 'abort', reason: message },
      { type: 'finish', finishReason: 'other', messageMetadata },
    ];
  }
  const metadata = chunk({ type: 'message-metadata', messageMetadata: { ...messageMetadata, error: run.error } });
  return [...metadata, { type: 'error', errorText: message }];
};

/** One event of a run. */
export const chunksOf = (sessionKey: SessionKey, event: RunEvent): UIMessageChunk[] => {
  switch (event.type) {
    case 'step_begun':
      return chunk({ type: 'start-step' });
    case 'step_ended':
      return chunk({ type: 'finish-step' });
    case 'text_begun':
      return chunk({ type: 'text-start', id: event.messageId });
    case 'text':
      return chunk({ type: 'text-delta', id: event.messageId, delta: event.text });
    case 'text_ended':
      return chunk({ type: 'text-end', id: event.messageId });
    case 'call': {
      const { callId: toolCallId, tool: toolName, arguments: text, client } = event;
      return chunk({ type: 'tool-input-available', toolCallId, toolName, input: inputOf(text), ...(!client && byAgent) });
    }
    case 'result':
      return chunk(resultChunk(event));
    case 'approval': {
      const { approvalId, callId: toolCallId, action, asks, expiresAt } = event;
      const approvalDescriptor = { action, asks, expiresAt };
      return chunk({ type: 'tool-approval-request', approvalId, toolCallId, approvalDescriptor });
    }
    // The finish says it.
    case 'handed_over':
      return [];
    case 'end':
      return endChunks(sessionKey, event);
    default:
      return assertNever(event);
  }
};

/** The first chunk of a message. */
export const startOf = (sessionKey: SessionKey, messageId: string): UIMessageChunk => ({
  ...{ type: 'start', messageId, messageMetadata: { sessionKey } },
});

/** `messageId`: the message that the chunks create or continue. */
export const uiChunks = (sessionKey: SessionKey, messageId: string): RunFrames => ({
  headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
  begin: () => frame(startOf(sessionKey, messageId)),
  tell: (events) => events.flatMap((event) => chunksOf(sessionKey, event).map(frame)).join(''),
  fail: (errorText) => frame({ type: 'error', errorText }),
  done: 'data: [DONE]\n\n',
});
