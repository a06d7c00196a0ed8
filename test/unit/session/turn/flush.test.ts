import { expect, test } from 'vitest';
import type { Attempt } from '../../../../services/session/turn/attempt.ts';
import { mayFlush } from '../../../../services/session/turn/context-window.ts';
import type { TurnContext } from '../../../../services/session/turn/turn-context.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';

const attemptWith = (more: object) => ({ services: { config: configSchema.parse(more) } }) as unknown as Attempt;
const contextWith = (usual: string | null, flushed = false) =>
  ({
    view: { flush: flushed ? [{}] : [] },
    tools: usual === null ? [] : [{ name: 'memory_add', usual }],
  }) as unknown as TurnContext;
const writable = { agent: { workspace: 'work' } };

test.each<[string, object, string | null, boolean]>([
  ['where the model can remember', {}, 'allow', true],
  ['where it can write files', writable, null, true],
  ['not where it could only ask whether it may remember', {}, 'ask', false],
  ['not where it can only read files', { agent: { workspace: 'work', workspaceAccess: 'read-only' } }, null, false],
  ['not where nobody wants it', { ...writable, context: { memoryFlush: false } }, 'allow', false],
])('A7/85: before a compaction the model saves what it wants to remember %s', (_, config, usual, expected) => {
  expect(mayFlush(attemptWith(config), contextWith(usual))).toBe(expected);
  expect(mayFlush(attemptWith(config), contextWith(usual, true))).toBe(false);
});
