import { expect, test } from 'vitest';
import { deliveryWords, isOver } from '../../../../services/page/deliveries/delivery-words.ts';
import type { EventDelivery } from '../../../../shared/client/main.ts';

const delivery = (state: EventDelivery['state'], more: Partial<EventDelivery> = {}): EventDelivery => ({
  ...{
    outboundId: '3.2',
    kind: 'assistant_message',
    target: { channel: 'telegram', to: '-1' },
    state,
    attempt: 1,
    messageIds: [],
  },
  ...more,
});
const parts = { sent: 2, of: 3 };
const toSession = { channel: 'session', to: 'agent:main:main' };

test.each<[string, EventDelivery]>([
  ['delivered to telegram at 2 ms, first try', delivery('delivered', { at: 2 })],
  ['delivered to telegram at 2 ms, try 7', delivery('delivered', { at: 2, attempt: 7 })],
  ['delivered to telegram at 2 ms, 3 parts', delivery('delivered', { at: 2, parts: { sent: 3, of: 3 } })],
  ['delivered to another session at 2 ms, first try', delivery('delivered', { at: 2, target: toSession })],
  ['waits to be sent to telegram', delivery('prepared', { attempt: 0 })],
  ['waits for telegram, third try at 9 ms: HTTP 503', delivery('prepared', { attempt: 3, notBefore: 9, detail: 'HTTP 503' })],
  ['waits for telegram, second try: it asked to wait', delivery('prepared', { attempt: 2, failure: 'rate_limit' })],
  ['is being sent to telegram, first try', delivery('sending')],
  ['partly delivered to telegram, 2 of 3 parts', delivery('partial', { parts })],
  ['may have reached telegram: socket hang up', delivery('unknown', { detail: 'socket hang up' })],
  ['not sent to telegram, on purpose', delivery('suppressed', { attempt: 0 })],
  ['not delivered to telegram: there is no such receiver', delivery('failed', { failure: 'not_found' })],
])('%s', (words, one) => {
  expect(deliveryWords(one, (at) => `${at} ms`)).toBe(words);
  expect(isOver(one)).toBe(!/^(waits|is being)/.test(words));
});
