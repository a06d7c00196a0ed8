import type { Operation } from '../operation/operation.ts';
import { aguiOperations } from '../protocols/agui/operations.ts';
import { capabilities } from '../protocols/capabilities.ts';
import { openAiOperations } from '../protocols/openai/operations.ts';
import { descriptionOperations } from '../protocols/openapi/operations.ts';
import { rpcOperations } from '../protocols/rpc/operations.ts';
import { uiOperations } from '../protocols/ui/operations.ts';

/**
 * The operation table: every capability, and what other protocols add at addresses of their own. Routes, methods, tools, the OpenAPI document
 * and `shared/client/routes.ts` are made of it. `/mcp` and `/v1/ws` are protocols by themselves and register their own address.
 */
export const operations: readonly Operation[] = [
  ...capabilities,
  ...rpcOperations,
  ...descriptionOperations(() => operations),
  ...openAiOperations,
  ...uiOperations,
  ...aguiOperations,
];
