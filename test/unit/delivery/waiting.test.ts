import { expect, test } from 'vitest';
import { WaitingScopes } from '../../../services/delivery/waiting.ts';

/** What is reported of conversations that wait. */

test('a conversation that waits says why, in few words, how often it was tried, and for which session', () => {
  const waiting = new WaitingScopes();
  const first = { detail: `HTTP 503 ${'and more '.repeat(1_000)}`, attempts: 3, sessionKey: 'agent:main:main' };
  waiting.add('["chat","ann",null,null]', { seq: 7, until: 9, first });
  const detail = expect.stringMatching(/^HTTP 503 and more.{0,183}$/);
  expect(waiting.conversations()).toEqual([
    { channel: 'chat', to: 'ann', state: 'waiting', detail, until: 9, attempts: 3, sessionKey: 'agent:main:main' },
  ]);
});
