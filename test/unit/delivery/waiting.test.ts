import { expect, test } from 'vitest';
import { WaitingScopes } from '../../../services/delivery/waiting.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';

/** What is reported of conversations that wait. */

const outbound: Outbound = {
  ...{ id: '7.0', seq: 7, key: 'agent:main:main' as SessionKey, target: { channel: 'chat', to: 'ann' }, turnId: 't' },
  ...{ kind: 'assistant_message', text: `yes ${'and more '.repeat(1_000)}` },
};

test('a conversation that waits says why, for which session, and the first words, unless the session was erased', () => {
  const waiting = new WaitingScopes();
  waiting.add('["chat","ann",null,null]', { seq: 7, until: 9, first: { detail: 'HTTP 503', outbound } });
  const [told] = waiting.conversations((one) => one);
  const facts = { channel: 'chat', to: 'ann', state: 'waiting', detail: 'HTTP 503', until: 9, sessionKey: outbound.key };
  expect(told).toEqual({ ...facts, text: expect.stringMatching(/^yes and more.{0,190}$/) });
  expect(waiting.conversations((one) => ({ ...one, text: '' }))).toEqual([facts]);
});
