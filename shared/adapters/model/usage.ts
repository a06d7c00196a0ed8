import type { ModelRequest } from '../../domain/prompt/model-request.ts';
import { contextTokens } from '../../domain/prompt/tokens.ts';
import type { Usage } from '../../domain/values/types.ts';
import { estimateTokens } from '../../kit/token-estimate.ts';

/** An estimate for providers that do not count tokens, marked as one. `output`: everything that the model wrote. */
export const estimateUsage = (request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>, output: string): Usage => {
  const inputTokens = contextTokens(request);
  const outputTokens = estimateTokens(output);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
};

/** The SDK's report of a step's tokens; `raw` is the provider's own report, with the cost if it has one. */
export interface ReportedUsage {
  readonly inputTokens: { readonly total: number | undefined };
  readonly outputTokens: { readonly total: number | undefined };
  readonly raw?: Readonly<Record<string, unknown>> | undefined;
}

/** The provider's count, or `null` if it did not count: no step has zero input tokens. */
export const countedUsage = ({ inputTokens, outputTokens, raw = {} }: ReportedUsage): Usage | null => {
  const [input, output] = [tokens(inputTokens.total), tokens(outputTokens.total)];
  if (input === 0) return null;
  const { cost, total_tokens: total } = raw;
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: tokens(total) || input + output,
    ...(typeof cost === 'number' && cost >= 0 && cost <= believable && { costUsd: cost }),
  };
};

/** No step takes more than this many tokens or dollars. A session's counts are sums and must stay safe numbers. */
const believable = 1e9;
const tokens = (count: unknown): number =>
  Number.isSafeInteger(count) && Number(count) > 0 && Number(count) <= believable ? Number(count) : 0;
