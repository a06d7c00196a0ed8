import { afterAll, describe, expect, test, vi } from 'vitest';
import { startDelivery } from '../../../../../services/delivery/main.ts';
import { type DeliveryPage, type Pairings, type Skills, sessionPath } from '../../../../../shared/client/main.ts';
import { configSchema } from '../../../../../shared/domain/config/schema.ts';
import { admit } from '../../../../../shared/domain/routing/pairing.ts';
import type { ResumeRequest, WaitingDelivery } from '../../../../../shared/domain/values/delivery.ts';
import { createLog } from '../../../../../shared/kit/log.ts';
import type { SendResult } from '../../../../../shared/ports/outlet.ts';
import { fixed } from '../../../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../../../shared/runtime/service.ts';
import { afterwards } from '../../setup.ts';
import { axeFindings } from '../browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from '../use-page.ts';

/** What the page says of messages that were sent, and what a person decides about those that did not arrive, and about strangers. */

const soon = { timeout: 15_000, interval: 50 };
const key = 'agent:main:hook:group:-1';
/** What each receiver's platform does with a message. */
const outcomes = new Map<string, SendResult>();

describe.skipIf(!hasBrowser)('of what was sent', () => {
  let delivery: Service;
  afterAll(() => delivery.stop(1_000));
  const { rig, open } = usePage({}, async ({ ports, client }) => {
    const send = async ({ target }: { target: { to: string } }): Promise<SendResult> =>
      outcomes.get(target.to) ?? { kind: 'sent', messageId: 'm-5513' };
    delivery = await startDelivery({
      ...{ config: fixed(configSchema.parse({})), ports, log: createLog({ level: 'silent', name: 'x' }), member: 'delivery' },
      outlets: [{ channel: 'hook', unknownSend: { by: 'neither' }, send }],
    });
    for (const to of ['bob', 'cy']) outcomes.set(to, { kind: 'refused', failure: 'not_found', detail: `no chat ${to}` });
    for (const to of ['ann', 'bob', 'cy'])
      await client.post(`${sessionPath(key, '/messages')}?wait=30`, { text: `hello ${to}`, deliverTo: { channel: 'hook', to } });
    await vi.waitFor(async () => expect((await client.get<DeliveryPage>('/v1/deliveries')).deliveries).toHaveLength(2), soon);
  });

  test('the line of an event begins with its command and ends with the delivery', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/events?key=${encodeURIComponent(key)}&type=user_message`);
    const rows = page.locator('.event-row');
    const line = page.getByRole('list', { name: 'Cause and effect' });
    await rows.filter({ hasText: 'hello ann' }).click();
    await line.getByText(/^accepted .*\d:\d\d/).waitFor();
    await line.getByText(/^delivered to hook at .*\d:\d\d.*, first try$/).waitFor();
    expect(await line.locator('li').first().textContent()).toMatch(/^accepted/);
    expect(await line.locator('.cause-end').getAttribute('title')).toBe('ann, m-5513');
    await rows.filter({ hasText: 'hello bob' }).click();
    await line.getByText('not delivered to hook: no chat bob').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('one that arrived is listed with its attempts, its receipt and the event that sent it', async () => {
    const { page, faults } = await open(390);
    await goTo(page, '#/system/deliveries');
    await page.getByRole('link', { name: 'Delivered', exact: true }).click();
    const arrived = page.locator('.item', { hasText: 'To ann on hook' });
    await arrived.getByText('First try').waitFor();
    await arrived.getByText('Arrived as m-5513').waitFor();
    expect(await wrongIn(page, '#/system/deliveries?show=delivered', '.item')).toEqual([]);
    await arrived.getByRole('link', { name: 'The event that sent it' }).click();
    await page.getByText(/^delivered to hook at .*\d:\d\d.*, first try$/).waitFor();
    expect(faults).toEqual([]);
  });

  test('the chat says of the newest answer whether it has arrived, and of one before it when somebody asks', async () => {
    const { page, faults } = await open(320);
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/deliveries?event=') && asked.push(request.url()));
    await goTo(page, `#/sessions/${encodeURIComponent(key)}/chat`);
    const notes = page.locator('.said-assistant .delivery-note');
    const ask = 'Delivered to hook?';
    const said = (...texts: unknown[]) => vi.waitFor(async () => expect(await notes.allTextContents()).toEqual(texts), soon);
    await said(ask, ask, 'Not delivered to hook: no chat cy.');
    expect(asked).toHaveLength(1);
    // The question is seen where somebody points, or comes by the keyboard.
    const answers = page.locator('.said-assistant');
    const opacities = () =>
      notes.getByRole('button', { name: ask }).evaluateAll((all) => {
        const { getComputedStyle: styleOf } = globalThis as never as { getComputedStyle(of: unknown): { opacity: string } };
        return all.map((one) => styleOf(one).opacity);
      });
    expect(await opacities()).toEqual(['0', '0']);
    await answers.nth(1).hover();
    expect(await opacities()).toEqual(['0', '1']);
    await notes.getByRole('button', { name: ask }).first().focus();
    expect(await opacities()).toEqual(['1', '1']);
    await notes.getByRole('button', { name: ask }).first().press('Enter');
    const arrived = expect.stringMatching(/^Delivered to hook at .*\d:\d\d.*, first try\.$/);
    await said(arrived, ask, 'Not delivered to hook: no chat cy.');
    expect(await page.locator(':focus').textContent()).toContain('Delivered to hook at');
    expect(asked).toHaveLength(2);
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('only one that did not arrive has an event of its delivery', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/events?key=${encodeURIComponent(key)}&type=delivery_reported`);
    const rows = page.locator('.event-delivery_reported');
    await vi.waitFor(async () => expect(await rows.count()).toBe(2), soon);
    expect(await rows.allTextContents()).toEqual([expect.stringContaining('failed'), expect.stringContaining('failed')]);
    expect(faults).toEqual([]);
  });

  test('one that did not arrive is sent again, and one is left', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/deliveries');
    const to = (name: string) => page.locator('.item', { hasText: `To ${name} on hook` });
    await to('bob').getByText('What was not sent').click();
    await to('bob').getByText('Tried once').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    outcomes.delete('bob');
    await to('bob').getByRole('button', { name: 'Send again…' }).click();
    await page.getByRole('dialog').getByText('To hook bob: the receiver may get it twice.').waitFor();
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await to('bob').waitFor({ state: 'detached' });
    await to('cy').getByText('What was not sent').click();
    await to('cy').getByRole('button', { name: 'Leave as it is…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByRole('heading', { name: 'No message waits or has failed' }).waitFor();
    await goTo(page, `#/events?key=${encodeURIComponent(key)}&type=delivery_repeated`);
    await page.locator('.event-row').first().click();
    await page.getByText(/^delivered to hook at .*, first try$/).waitFor();
    expect(faults).toEqual([]);
  });

  test('an account that is parked is tried at once', async () => {
    const waiting: WaitingDelivery = { channel: 'hook', state: 'parked', detail: 'HTTP 401', until: Date.now() + 60_000 };
    const { presence, resumeRequests } = rig().ports;
    const services = [{ name: 'delivery', problems: [], warnings: [], metrics: {}, waiting: [waiting] }];
    await presence.tell({ v: 1, process: 'delivery-1', version: '0', startedAt: 1, at: Date.now(), services });
    afterwards(() => presence.leave('delivery-1'));
    const asked: ResumeRequest[] = [];
    afterwards(resumeRequests.subscribe((request) => asked.push(request)));
    const { page, faults } = await open();
    await goTo(page, '#/system/deliveries');
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByRole('status').getByText('hook is tried again').waitFor();
    await vi.waitFor(() => expect(asked).toEqual([{ channel: 'hook' }]), soon);
    expect(faults).toEqual([]);
  });

  test('strangers are let in, kept out, and shut out again', async () => {
    for (const [code, senderId, name] of [
      ['ABCDEFGH', '1', 'Ann'],
      ['HGFEDCBA', '2', 'Bob'],
    ] as const)
      await rig().ports.pairings.change('irc', (record) => admit(record, { code, senderId, name, inboundId: code }, Date.now()));
    const paired = async () => (await rig().client.get<Pairings>('/v1/pairing')).paired.map(({ senderId }) => senderId);
    const { page, faults } = await open();
    await goTo(page, '#/system/channels');
    const press = async (who: string, name: string): Promise<void> => {
      await page
        .locator('.item', { hasText: who })
        .getByRole('button', { name: `${name}…` })
        .click();
      await page.getByRole('dialog').getByText(`${who} on irc`).waitFor();
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    };
    await page.locator('.item', { hasText: 'Ann (1)' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await press('Ann (1)', 'Approve');
    await page.locator('.item', { hasText: 'Ann (1)' }).getByText('Approved', { exact: true }).waitFor();
    expect(await paired()).toEqual(['1']);
    await press('Bob (2)', 'Deny');
    await page.locator('.item', { hasText: 'Bob (2)' }).waitFor({ state: 'detached' });
    await press('Ann (1)', 'Revoke');
    await page.getByRole('heading', { name: 'Nobody waits' }).waitFor();
    expect(await paired()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a skill that lacks something says what, with the command that repairs it', async () => {
    const skill = {
      source: 'workspace',
      folder: 'skills/charts',
      notes: [],
      name: 'charts',
      description: 'Draws.',
      command: null,
    };
    const lacks = { reasons: ['needs the program chart'], repair: 'natter skills install-programs charts' };
    const answer: Skills = { skills: [{ ...skill, status: 'ineligible', ...lacks }] };
    const { page, faults } = await open(390);
    await page.route('**/v1/skills', (route) => route.fulfill({ json: answer }));
    await goTo(page, '#/system/skills');
    const item = page.locator('.item-warn', { hasText: 'charts' });
    await item.getByText('Lacks something').waitFor();
    await item.getByText('needs the program chart').waitFor();
    await item.getByRole('button', { name: 'Copy the command' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
