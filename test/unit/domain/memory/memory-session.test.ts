import { expect, test } from 'vitest';
import { isMemorySession, memorySessionOf } from '../../../../shared/domain/memory/memory-session.ts';

/** The sessions whose logs record what people change of memories. */

test.each(['', 'main', 'other'])('the memory session of the agent "%s" is known by its key', (agentId) => {
  expect(isMemorySession(memorySessionOf(agentId))).toBe(true);
});

test.each(['agent:main:main', 'agent:main:web:memory', 'agent:main:memory:topic', 'memory:main'])('%s is none', (key) => {
  expect(isMemorySession(key)).toBe(false);
});
