import type { ModelMessage, ModelRequest } from '../ports.ts';
import type { TurnView } from './said.ts';

/** What a compaction summarises and what stays. `throughRev` and `keptFromSeq` are those of `record_compaction`. */
export interface CompactionPlan {
  readonly older: readonly ModelMessage[];
  readonly kept: readonly ModelMessage[];
  readonly throughRev: number;
  readonly keptFromSeq: number;
}
export interface CompactionSettings {
  /** Tokens of the latest messages that stay as they are. */
  readonly keepTokens: number;
  /** Tokens that a request may have, see `roomTokens`. */
  readonly roomTokens: number;
}

/** `null`: there is nothing to summarise. */
export const planCompaction = (_view: TurnView, _settings: CompactionSettings): CompactionPlan | null => null;

/** The request for the summary, with `purpose: 'compaction'`. Cut at its oldest part, with a note, where it would not fit. */
export const compactionPrompt = (
  _older: readonly ModelMessage[],
  _asked: { readonly instructions?: string | undefined; readonly roomTokens: number },
): Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'prompt' | 'purpose'> => ({
  system: '',
  messages: [],
  tools: [],
  prompt: '',
  purpose: 'compaction',
});

/** A summary as it is recorded: not longer than `limits.summaryCharacters`. */
export const boundedSummary = (text: string): string => text;
