import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { Tool, ToolEnd, ToolScope } from '../../../../shared/ports/tools.ts';

export const scope: ToolScope = {
  key: 'agent:main:main' as SessionKey,
  sessionId: 's1',
  turn: { id: 't1', attempt: 1 },
  sender: { id: '1' },
};

/** Calls one of the tools. */
export const calling =
  (tools: readonly Tool[]) =>
  (
    name: string,
    given: unknown,
    { callId = 't1.1.0', signal = new AbortController().signal, sender = scope.sender } = {},
  ): Promise<ToolEnd> => {
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    return tool.run({ callId, arguments: given, scope: { ...scope, sender } }, signal);
  };

/** The arguments as a model would have written them. */
export const parsed = (json: string): unknown => JSON.parse(json);
