import { type BaseEvent, HttpAgent, type Message, type RunAgentParameters, type RunFinishedEvent } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { expect } from 'vitest';
import { type Name, secretOf } from '../access/access-rig.ts';

/** An agent at a gateway with the official client, unmodified, and the events of its runs, each as the package's own schema wants it. */
export const agentAt = (url: string, name: Name, threadId: string, initialMessages: Message[] = []) => {
  const agent = new HttpAgent({
    url: `${url}/v1/agui`,
    headers: { authorization: `Bearer ${secretOf(name)}` },
    threadId,
    initialMessages,
  });
  const events: BaseEvent[] = [];
  const run = async (parameters: RunAgentParameters & { abortController?: AbortController } = {}): Promise<BaseEvent[]> => {
    events.length = 0;
    await agent.runAgent(parameters, {
      onEvent: ({ event }) => {
        expect(EventSchemas.safeParse(event).error?.issues ?? []).toEqual([]);
        events.push(event);
      },
    });
    return [...events];
  };
  /** Says something in a run of its own. */
  const say = (content: string, parameters: RunAgentParameters & { id?: string } = {}): Promise<BaseEvent[]> => {
    const { id = `u${agent.messages.length}`, ...rest } = parameters;
    agent.addMessage({ id, role: 'user', content });
    return run(rest);
  };
  /** Answers what the last run asks. */
  const answer = (payload: object | null, parameters: RunAgentParameters = {}): Promise<BaseEvent[]> => {
    const [interrupt] = agent.pendingInterrupts;
    const head = { interruptId: interrupt?.id ?? '' };
    const resume =
      payload === null ? { ...head, status: 'cancelled' as const } : { ...head, status: 'resolved' as const, payload };
    return run({ resume: [resume], ...parameters });
  };
  return { agent, events, run, say, answer };
};

export const typesOf = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);
export const endOf = (events: readonly BaseEvent[]): RunFinishedEvent => {
  const last = events.at(-1);
  expect(last?.type).toBe('RUN_FINISHED');
  return last as RunFinishedEvent;
};
/** The messages as role and text, or the names of the calls. */
export const shown = ({ messages }: HttpAgent): unknown[] =>
  messages.map((message) => {
    const calls = message.role === 'assistant' ? message.toolCalls?.map(({ function: { name } }) => name) : undefined;
    return [message.role, message.content, ...(calls ? [calls] : [])];
  });
