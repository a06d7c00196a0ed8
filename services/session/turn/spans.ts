import { SpanKind } from '@opentelemetry/api';
import type { ModelRequest } from '../../../shared/domain/prompt/model-request.ts';
import type { Commit } from '../../../shared/domain/session/envelope.ts';
import { headlineOf } from '../../../shared/domain/session/headline.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import { isTracing, type SpanDescription, traced } from '../../../shared/kit/trace.ts';
import type { AppendResult } from '../../../shared/ports/event-log.ts';
import type { Tool, ToolEnd, ToolRun } from '../../../shared/ports/tools.ts';
import type { Attempt } from './attempt.ts';

/** The spans of a session host, by OpenTelemetry's conventions for generative AI. They contain no text of messages, calls or results. */

/** One attempt at a turn. `parent`: the traceparent of the run's first commit. */
const turnSpan = (attempt: Attempt, parent: string | null): SpanDescription<void> => {
  const { config } = attempt.services;
  const agent = config.agent.id;
  return {
    name: `invoke_agent ${agent}`,
    parent,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': providerOf(attempt.model.name),
      'gen_ai.request.model': attempt.model.name,
      'gen_ai.agent.id': agent,
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': attempt.state.machine.context.sessionId,
      'natter.turn.id': attempt.ref.id,
      'natter.turn.attempt': attempt.ref.attempt,
    },
    ended: () => ({ attributes: { 'natter.session.status': String(attempt.state.machine.value) } }),
  };
};

/** Runs an attempt within the trace of its run, wherever that started. */
export const tracedTurn = async (attempt: Attempt, run: () => Promise<void>): Promise<void> => {
  if (!isTracing()) return run();
  const { traces } = attempt.services;
  const [oldest = 1] = attempt.state.position.window;
  const parent = (await traces?.of(attempt.key, attempt.ref.id, oldest - 1)) ?? null;
  return traced(() => turnSpan(attempt, parent), run);
};

export const stepSpan = (model: string, { step, purpose }: ModelRequest): SpanDescription<StepOutcome> => ({
  name: `chat ${model}`,
  kind: SpanKind.CLIENT,
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerOf(model),
    'gen_ai.request.model': model,
    'natter.turn.step': step,
    ...(purpose !== undefined && { 'natter.step.purpose': purpose }),
  },
  ended: (outcome) =>
    outcome.kind === 'failed'
      ? { failure: outcome.code }
      : {
          attributes: {
            'gen_ai.response.model': outcome.model,
            'gen_ai.response.finish_reasons': [finishOf(outcome)],
            'gen_ai.usage.input_tokens': outcome.usage.inputTokens,
            'gen_ai.usage.output_tokens': outcome.usage.outputTokens,
          },
        },
});

export const toolSpan = (tool: Tool, { callId, scope }: ToolRun): SpanDescription<ToolEnd> => ({
  name: `execute_tool ${tool.name}`,
  attributes: {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool.name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': callId,
    'gen_ai.conversation.id': scope.sessionId,
  },
  ended: ({ outcome }) => ({ failure: outcome === 'ok' ? undefined : outcome }),
});

/** One try to append a commit. */
export const commitSpan = ({ id, rev, events, sessionId }: Commit): SpanDescription<AppendResult> => ({
  name: `commit ${headlineOf(events)}`,
  kind: SpanKind.PRODUCER,
  attributes: {
    'messaging.system': 'nats',
    'messaging.operation.name': 'commit',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'events',
    'messaging.message.id': id,
    'gen_ai.conversation.id': sessionId,
    'natter.commit.rev': rev,
    'natter.commit.events': events.length,
  },
  ended: (result) => (result.kind === 'stored' ? { attributes: { 'natter.commit.seq': result.seq } } : { failure: result.kind }),
});

const providerOf = (model: string): string => (model.includes('/') ? (model.split('/')[0] ?? model) : model);

const finishOf = (outcome: Exclude<StepOutcome, { kind: 'failed' }>): string =>
  outcome.kind === 'continue' && outcome.calls !== undefined ? 'tool_calls' : 'stop';
