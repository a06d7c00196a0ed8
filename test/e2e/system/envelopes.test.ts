import { expect, test } from 'vitest';
import { limits } from '../../../shared/kit/limits.ts';
import { pathOf } from '../gateway/setup.ts';
import { startWhole } from './whole.ts';

/** D9: what an envelope may carry besides its text, from the gateway to what everybody sees. */

const key = 'agent:main:telegram:group:-1';
const inGroup = { conversation: { id: '-1', kind: 'group' } };

test('an edit and a deletion on the platform change what is shown from then on', async () => {
  const whole = await startWhole();
  const shown = async (): Promise<string[]> => {
    await whole.settled();
    const { body } = await whole.as.owner('GET', pathOf(key, '/messages'));
    return body.messages.map(({ text, editedAt }: { text: string; editedAt?: number }) => (editedAt ? `${text} (edited)` : text));
  };
  const attachments = [{ name: 'a.png', type: 'image/png' }];
  const first = await whole.say('telegram:5', 'at five', { ...inGroup, attachments, order: '17' });
  const second = await whole.say('telegram:5', 'my password is x', inGroup);
  expect(await shown()).toEqual(['at five', 'my password is x']);
  await whole.say('telegram:6', 'never', { ...inGroup, kind: 'edit', target: first });
  await whole.say('telegram:5', 'at six', { ...inGroup, kind: 'edit', target: first });
  await whole.say('telegram:5', '', { ...inGroup, kind: 'delete', target: second });
  await whole.until(async () => expect(await shown()).toEqual(['at six (edited)']));
  const { body } = await whole.as.owner('GET', pathOf(key, '/messages'));
  expect(body.messages[0]).toMatchObject({ attachments });
  expect(await whole.eventsOf(key, 'user_message')).toHaveLength(2);
});

test('F11: an envelope that might not fit into a command is refused by the gateway, with the field and the limit', async () => {
  const { as } = await startWhole();
  const body = { id: '1', channel: 'telegram', ...inGroup, sender: { id: '5' }, text: 'x'.repeat(limits.inboundBytes) };
  expect(await as.telegram('POST', '/v1/inbound', { body })).toMatchObject({
    status: 413,
    body: { code: 'too_large', field: 'text', detail: expect.stringContaining(String(limits.inboundBytes)) },
  });
});

test.each([
  ['order', { order: '1.5' }],
  ['order', { order: -1 }],
  ['order', { kind: 'edit', target: '1', order: 1 }],
  ['target', { kind: 'delete' }],
  ['idScope', { idScope: 'channel' }],
  ['attachments', { attachments: Array.from({ length: limits.attachments + 1 }, () => ({ name: 'a' })) }],
])('a wrong %s is refused with its name: %j', async (field, change) => {
  const { as } = await startWhole();
  const body = { id: '1', channel: 'telegram', ...inGroup, sender: { id: '5' }, text: '', ...change };
  const answer = await as.telegram('POST', '/v1/inbound', { body });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid' } });
  expect(answer.body.field).toContain(field);
});
