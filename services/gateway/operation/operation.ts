import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { ChangeKind } from '../../../shared/domain/access/access.ts';
import type { Caller } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { HttpBinding, HttpRoute } from './route.ts';

/**
 * One entry of the operation table: what the gateway can do, declared once. The REST routes, the OpenAPI document, the methods of RPC and
 * WebSockets, the tools of MCP, the client's routes and the rows that the access matrix must have are all made from these entries.
 */
export interface Operation {
  /** `operationId`; also the name by which the client and the tests refer to it. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string | undefined;
  /** What a caller's role must be allowed to change, however the operation is called. */
  readonly changes: ChangeKind;
  readonly http?: HttpRoute | undefined;
  readonly rpc?: NamedMethod | undefined;
  readonly mcp?: Tool | undefined;
}

export type Tag =
  | 'messages'
  | 'sessions'
  | 'events'
  | 'approvals'
  | 'memory'
  | 'methods'
  | 'access'
  | 'operations'
  | 'openai'
  | 'user interfaces';

/** One call of an operation: who makes it, and a signal that aborts when the caller has left. */
export interface Call {
  readonly context: GatewayContext;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** A call by name. `waitMs`: how long a call with these parameters may wait; 0: not at all. */
export interface Method {
  readonly parameters: z.ZodType;
  readonly changes: ChangeKind;
  waitMs(parameters: unknown): number;
  run(call: Call, parameters: unknown): Promise<unknown>;
}
export interface NamedMethod extends Method {
  readonly name: string;
}

/** A method as MCP clients see it. Without `result` the structure of its answer is not declared. */
export interface Tool extends NamedMethod {
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly result?: z.ZodType | undefined;
}

export type Run<Input, Output> = (call: Call, input: Input) => Promise<Output> | Output;

/** How one named method of RPC calls an operation. */
export interface MethodBinding<Input, Output> {
  methodFor(changes: ChangeKind, run: Run<Input, Output>): NamedMethod;
}
/** The same for a tool of MCP. */
export interface ToolBinding<Input, Output> {
  toolFor(changes: ChangeKind, run: Run<Input, Output>): Tool;
}

interface MethodOptions<Parameters, Input, Output> {
  readonly name: string;
  readonly parameters: z.ZodType<Parameters, unknown>;
  /** The parameters as the operation takes them. */
  input(parameters: Parameters, context: GatewayContext): Input;
  /** The answer, where it is not the operation's output as it is. */
  output?(output: Output, parameters: Parameters, call: Call): unknown;
  waitMs?(parameters: Parameters): number;
}

const methodFor = <Parameters, Input, Output>(
  { name, parameters, input, output = (result) => result, waitMs = () => 0 }: MethodOptions<Parameters, Input, Output>,
  changes: ChangeKind,
  run: Run<Input, Output>,
): NamedMethod => ({
  ...{ name, parameters, changes },
  waitMs: (given) => waitMs(given as Parameters),
  run: async (call, given) => {
    const checked = given as Parameters;
    return output(await run(call, input(checked, call.context)), checked, call);
  },
});

/** Offers an operation as a method of RPC and WebSockets. */
export const method = <Parameters, Input, Output>(
  options: MethodOptions<Parameters, Input, Output>,
): MethodBinding<Input, Output> => ({ methodFor: (changes, run) => methodFor(options, changes, run) });

/** Offers an operation as a tool of MCP. */
export const tool = <Parameters, Input, Output>({
  description,
  annotations,
  result,
  ...options
}: MethodOptions<Parameters, Input, Output> & Pick<Tool, 'description' | 'annotations' | 'result'>): ToolBinding<
  Input,
  Output
> => ({
  toolFor: (changes, run) => ({ ...methodFor(options, changes, run), description, annotations, result }),
});

/** Annotations of tools that only read, and of those that act. */
export const readOnly: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
export const acting: ToolAnnotations = { readOnlyHint: false, idempotentHint: false, openWorldHint: true };

interface Declaration<Input, Output> extends Pick<Operation, 'id' | 'tag' | 'summary' | 'description' | 'changes'> {
  readonly http?: HttpBinding<Input, Output>;
  readonly rpc?: MethodBinding<Input, Output>;
  readonly mcp?: ToolBinding<Input, Output>;
}

/** Declares an operation: what it does, and how each protocol offers it. */
export const operation = <Input, Output>(run: Run<Input, Output>, declared: Declaration<Input, Output>): Operation => {
  const { id, tag, summary, description, changes, http, rpc, mcp } = declared;
  return {
    ...{ id, tag, summary, description, changes },
    http: http?.routeFor(run),
    rpc: rpc?.methodFor(changes, run),
    mcp: mcp?.toolFor(changes, run),
  };
};
