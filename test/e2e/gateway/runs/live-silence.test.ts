import { expect, test, vi } from 'vitest';
import { keyOf } from '../../../support/domain/commits.ts';
import { openStream, pathOf, startWorld } from '../setup.ts';

test('A6/79: a stream of live text has no part of a silence marker; what was written is in the event', async () => {
  const key = keyOf('agent:main:main');
  const { call, gateway, memory } = await startWorld();
  const stream = await openStream(gateway.url, pathOf(key, '/events?deltas=1'));
  await vi.waitFor(() => expect(stream.comments).toHaveLength(1));
  const { live } = memory.portsFor('speaker');
  const pieces = ['Sure', '. <NO', '_RE', 'PLY', '> <no> ', '<EMPTY_RESPONSE', '>bye'];
  let offset = 0;
  for (const text of pieces) {
    live.publish(key, { turn: { id: 'a turn', attempt: 1 }, step: 1, offset, text });
    offset += text.length;
  }
  const deltas = () => stream.messages.filter(({ event }) => event === 'delta').map(({ data }) => JSON.parse(data));
  await vi.waitFor(() => expect(deltas().at(-1)?.end).toBe(offset));
  expect(
    deltas()
      .map(({ text }) => text)
      .join(''),
  ).toBe('Sure.  <no> bye');
  expect(deltas().map(({ offset, end }) => [offset, end])).toEqual(
    deltas().map(({ end }, index) => [deltas()[index - 1]?.end ?? 0, end]),
  );

  const said = '<NO_REPLY> is what a silent model writes';
  await call('POST', pathOf(key, '/messages?wait=5'), { body: { text: said } });
  const { body } = await call('GET', pathOf(key, '/events?type=assistant_message'));
  expect(body.events[0].text).toContain('<NO_REPLY>');
});
