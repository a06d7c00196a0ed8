import { expect, test } from 'vitest';
import type { Attempt } from '../../../../services/session/turn/attempt.ts';
import { mayFlush } from '../../../../services/session/turn/context-window.ts';
import type { TurnContext } from '../../../../services/session/turn/turn-context.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';

const attemptWith = (more: object) => ({ services: { config: configSchema.parse(more) } }) as unknown as Attempt;
const contextWith = (usual: string | null, writes: boolean, flushed = false) =>
  ({
    view: { flush: flushed ? [{}] : [] },
    tools: [...(usual === null ? [] : [{ name: 'memory_add', usual }]), ...(writes ? [{ name: 'write_file' }] : [])],
  }) as unknown as TurnContext;

test.each<[string, string | null, boolean, boolean, object?]>([
  ['where the model can remember', 'allow', false, true],
  ['where it can write files', null, true, true],
  ['not where it could only ask whether it may remember', 'ask', false, false],
  ['not where it has neither: strangers, or a workspace to be read', null, false, false],
  ['not where nobody wants it', 'allow', true, false, { context: { memoryFlush: false } }],
])('A7/85: before a compaction the model saves what it wants to remember %s', (_, usual, writes, expected, config = {}) => {
  expect(mayFlush(attemptWith(config), contextWith(usual, writes))).toBe(expected);
  expect(mayFlush(attemptWith(config), contextWith(usual, writes, true))).toBe(false);
});
