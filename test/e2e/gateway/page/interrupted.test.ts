import { describe, expect, test, vi } from 'vitest';
import type { WaitingDelivery } from '../../../../shared/domain/values/delivery.ts';
import { afterwards } from '../setup.ts';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** What the page says where a gateway is away, an answer is stopped, or a message waits. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string): string => `#/sessions/${encodeURIComponent(key)}/chat`;

describe.skipIf(!hasBrowser)('who is interrupted', () => {
  const kept = 'agent:main:kept';
  const { rig, open, openTab } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(kept, 'hello', { wait: 30 });
    await sessions.patch(kept, { displayName: 'The allotment' });
  });
  const field = 'Message';

  test('is told once of an outage, and finds the chat that was opened meanwhile whole, with what was not sent', async () => {
    const { page, faults } = await openTab();
    await page.clock.install();
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(new URL(request.url()).pathname));
    await page.goto(await rig().link());
    await page.getByRole('link', { name: /allotment/ }).waitFor();
    const trouble = page.locator('.waiting, .problem:not(.said .problem)');
    const goOffline = async (): Promise<void> => {
      await page.context().setOffline(true);
      rig().cutConnections();
      await trouble.first().waitFor();
    };
    await goOffline();
    await goTo(page, place(kept));
    for (const text of ['never mind', 'or do']) {
      await page.getByLabel(field, { exact: true }).fill(text);
      await page.keyboard.press('Enter');
    }
    const paths = ['', '/events', '/messages'].map((rest) => `/v1/sessions/${encodeURIComponent(kept)}${rest}`);
    const failures = (): number[] => paths.map((path) => failed.filter((each) => each === path).length);
    await vi.waitFor(() => expect(failures()).not.toContain(0), soon);
    const before = failures();
    // Whatever has patience for a while loses it now.
    await page.clock.fastForward(60_000);
    await vi.waitFor(() => expect(failures().every((count, index) => count > (before[index] ?? 0))).toBe(true), soon);
    const held = page.getByText('Waiting for the connection. It will be sent when that is back.');
    await vi.waitFor(async () => expect(await held.count()).toBe(2), soon);
    expect(await page.getByText('not sent', { exact: true }).count()).toBe(0);
    await vi.waitFor(async () => {
      expect(await trouble.allTextContents()).toEqual([
        'No connection to the gateway. The page keeps trying, and goes on by itself.',
      ]);
    }, soon);
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'The allotment' }).waitFor();
    await page.locator('.session-head .badge').waitFor();
    await page.locator('.said-user', { hasText: 'hello' }).waitFor();
    await vi.waitFor(async () => expect(await trouble.count()).toBe(0), soon);
    const sent = page.locator('.said-user:not(.said-outgoing) .plain', { hasText: /never mind|or do/ });
    await vi.waitFor(async () => expect(await sent.allTextContents()).toEqual(['never mind', 'or do']), soon);
    await goOffline();
    await rig().client.sessions.append(kept, 'in the meantime');
    await page.context().setOffline(false);
    await page.locator('.said', { hasText: 'in the meantime' }).waitFor();
    await page.getByText(/^Connected again after .* Nothing is missing\.$/).waitFor();
    // What was on its way when the page is loaded again goes on by itself.
    const messages = `**/v1/sessions/${encodeURIComponent(kept)}/messages`;
    await page.route(messages, (route) => route.abort());
    await page.getByLabel(field, { exact: true }).fill('through a reload');
    await page.keyboard.press('Enter');
    await page.locator('.said-outgoing', { hasText: 'through a reload' }).waitFor();
    await page.reload();
    await page.locator('.said-outgoing', { hasText: 'through a reload' }).waitFor();
    await page.unroute(messages);
    await page.locator('.said-user:not(.said-outgoing)', { hasText: 'through a reload' }).waitFor();
    const recorded: string[] = [];
    for await (const { role, text } of rig().client.sessions.messages(kept)) if (role === 'user') recorded.push(text);
    expect(recorded).toEqual(['hello', 'never mind', 'or do', 'in the meantime', 'through a reload']);
    expect(faults).toEqual([]);
  });

  test('sees where a stop left off, and that the message in the queue has no answer, also after a reload', async () => {
    const { page, faults } = await open();
    await goTo(page, place('agent:main:web:stopped'));
    const write = async (text: string): Promise<void> => {
      await page.getByLabel(field, { exact: true }).fill(text);
      await page.keyboard.press('Enter');
    };
    await write('[[think 60000]] [[size 4000]] a story');
    await page.locator('.said-assistant[aria-busy] p').waitFor();
    await write('another one');
    await page.locator('.said-user', { hasText: 'waits in the queue' }).waitFor();
    await write('not this one');
    const unwanted = page.locator('.said-user', { hasText: 'not this one' });
    await unwanted.getByRole('button', { name: 'Take back' }).press('Enter');
    await unwanted.getByText('not answered: taken back before its turn').waitFor();
    // Its text is in the field again, unless something is written there.
    const written = page.getByLabel(field, { exact: true });
    expect(await written.inputValue()).toBe('not this one');
    await page.keyboard.press('Enter');
    const again = page.locator('.said-user', { hasText: 'not this one' }).last();
    await again.getByText('waits in the queue').waitFor();
    await written.fill('in the making');
    await again.getByRole('button', { name: 'Take back' }).press('Enter');
    await again.getByText('not answered: taken back before its turn').waitFor();
    expect(await written.inputValue()).toBe('in the making');
    await written.fill('');
    expect(await page.locator('.said-assistant[aria-busy] ~ .said-user .plain').allTextContents()).toEqual([
      'another one',
      'not this one',
      'not this one',
    ]);
    await page.locator('.composer .hint', { hasText: 'Stop also drops 1 waiting message.' }).waitFor();
    await page.getByRole('button', { name: 'Stop the answer, and drop 1 waiting message', exact: true }).click();
    const dropped = page.locator('.said-user', { hasText: 'not answered: stopped before its turn' });
    await dropped.getByText('another one').waitFor();
    const classes = await page.locator('.messages > *').evaluateAll((all) => all.map((each) => each.className.split(' ')[1]));
    expect(classes).toEqual(['said-user', 'said-assistant', 'mark-calm', 'said-user', 'said-user', 'said-user']);
    const said = await page.locator('.said-user .plain').allTextContents();
    expect(said.slice(1)).toEqual(['another one', 'not this one', 'not this one']);
    expect(await page.locator('.said-assistant header').textContent()).not.toContain('stopped');
    await page.reload();
    await dropped.getByText('another one').waitFor();
    expect(faults).toEqual([]);
  });

  test('is told at once that the computer is offline, although nothing has cut the stream yet', async () => {
    const { page } = await open();
    await goTo(page, place(kept));
    await page.locator('.said').first().waitFor();
    await page.context().setOffline(true);
    await page.getByText('No connection to the gateway. The page keeps trying, and goes on by itself.').waitFor();
    await page.context().setOffline(false);
    await page.locator('.waiting').waitFor({ state: 'detached' });
  });

  test('finds an answer growing in one bubble after a reload in the middle of it', async () => {
    const { page, faults } = await open();
    await goTo(page, place('agent:main:web:reloaded'));
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    await page.getByLabel(field, { exact: true }).fill(`[[think 12000]] ${words}`);
    await page.keyboard.press('Enter');
    const answer = page.locator('.said-assistant');
    await answer.getByText('word3').waitFor();
    await page.reload();
    await page.locator('.said-assistant[aria-busy]').waitFor();
    expect(await answer.textContent()).not.toContain('word59');
    await page.locator('.said-assistant:not([aria-busy])').waitFor();
    expect((await answer.locator('.prose').allTextContents()).map((text) => text.trim())).toEqual([`You said: ${words}`]);
    expect(faults).toEqual([]);
  });

  test('finds a message that could not be sent in another view and after a reload, and sends it once', async () => {
    const { page, faults } = await open();
    const messages = `**/v1/sessions/${encodeURIComponent(kept)}/messages`;
    const problem = {
      type: 'urn:natter:problem:queue_full',
      title: 'x',
      status: 429,
      code: 'queue_full',
      detail: 'the queue is full',
    };
    await page.route(messages, (route) => route.fulfill({ status: 429, contentType: 'application/problem+json', json: problem }));
    await goTo(page, place(kept));
    for (const text of ['do not lose me', 'never mind this']) {
      await page.getByLabel(field, { exact: true }).fill(text);
      await page.keyboard.press('Enter');
      await page.locator('.said-outgoing', { hasText: text }).getByText('the queue is full').waitFor();
    }
    await goTo(page, '#/approvals');
    await page.reload();
    await goTo(page, '#/sessions');
    await page.getByRole('link', { name: 'Message not sent' }).press('Enter');
    const unsent = page.locator('.said-outgoing');
    await page.setViewportSize({ width: 320, height: 700 });
    for (const button of await unsent.getByRole('button').all()) expect((await button.boundingBox())?.height).toBeLessThan(40);
    await page.setViewportSize({ width: 1280, height: 800 });
    await unsent.filter({ hasText: 'never mind this' }).getByRole('button', { name: 'Discard' }).click();
    await page.unroute(messages);
    await unsent.filter({ hasText: 'do not lose me' }).getByRole('button', { name: 'Try again' }).click();
    await page.locator('.said-user:not(.said-outgoing)', { hasText: 'do not lose me' }).waitFor();
    expect(await unsent.count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Message not sent' }).count()).toBe(0);
    await page.reload();
    await page.locator('.said-user', { hasText: 'do not lose me' }).waitFor();
    expect(await page.locator('.said-user', { hasText: /do not lose me|never mind this/ }).count()).toBe(1);
    expect(faults.filter((fault) => !fault.includes('429'))).toEqual([]);
  });

  test('stops an answer that waits for an approval, and is told what a message sent now does', async () => {
    const key = 'agent:main:web:asking';
    await rig().client.sessions.post(key, '[[tool exec {"command": ["true"]}]] please', {});
    const { page, faults } = await open();
    await goTo(page, place(key));
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    await page.getByText('It waits for an approval. A message sent now is answered after this one.').waitFor();
    // On a small screen there is room to write all the same.
    await page.setViewportSize({ width: 320, height: 700 });
    expect((await page.getByLabel(field, { exact: true }).boundingBox())?.width).toBeGreaterThan(250);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    await page.getByText('Stopped by you. Only finished steps are kept').waitFor();
    await page.getByText('Enter sends, Shift+Enter begins a new line.').waitFor();
    expect(await page.getByRole('button', { name: 'Stop the answer' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('edits a message with the keys that write one', async () => {
    const key = 'agent:main:web:edited';
    await rig().client.sessions.post(key, 'first words', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key));
    await page.locator('.said-user').getByRole('button', { name: 'Edit' }).click();
    await page.locator('.said-edit .hint', { hasText: 'Enter sends, Shift+Enter begins a new line.' }).waitFor();
    await page.getByLabel('Edited message').press('Shift+Enter');
    await page.getByLabel('Edited message').pressSequentially('and more');
    // Where it cannot be sent, what was written stays.
    const resets = `**/v1/sessions/${encodeURIComponent(key)}/reset`;
    const problem = { type: 'urn:natter:problem:x', title: 'x', status: 404, code: 'not_found', detail: 'there is none' };
    await page.route(resets, (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', json: problem }));
    await page.getByLabel('Edited message').press('Enter');
    await page.getByText('there is none').waitFor();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('first words\nand more');
    await page.unroute(resets);
    // A misspelt command is refused here as it is in the field below.
    await page.getByLabel('Edited message').fill('/rest');
    await page.getByLabel('Edited message').press('Enter');
    await page.getByRole('alert').filter({ hasText: 'There is no command /rest. Did you mean /reset?' }).waitFor();
    await page.getByLabel('Edited message').fill('first words\nand more');
    await page.getByLabel('Edited message').press('Enter');
    await page.locator('.said-assistant', { hasText: 'and more' }).waitFor();
    // One message is edited at a time; what was written in another is kept.
    await page.getByLabel(field, { exact: true }).fill('second words');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'second words' }).waitFor();
    const messageWith = (text: string) => page.locator('.said-user', { hasText: text });
    await messageWith('second words').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('second thoughts');
    await messageWith('and more').last().getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('first words\nand more');
    await messageWith('second words').getByRole('button', { name: 'Continue editing' }).click();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('second thoughts');
    // Escape keeps it, unless it is the message as it was sent; Cancel does not.
    await page.getByLabel('Edited message').press('Escape');
    await messageWith('second words').getByRole('button', { name: 'Continue editing' }).click();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('second thoughts');
    await page.getByLabel('Edited message').fill('second words');
    await page.getByLabel('Edited message').press('Escape');
    await messageWith('second words').getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Edited message').fill('third thoughts');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await messageWith('second words').getByRole('button', { name: 'Edit', exact: true }).click();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('second words');
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
  });

  test('reads why a message waits, whose it is, how often it was tried, and when it is tried next; and nothing false where none does', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/deliveries');
    await page.getByRole('heading', { name: 'No message waits or has failed' }).waitFor();
    const waiting: WaitingDelivery = {
      ...{ channel: 'hook', to: 'ann', state: 'waiting', until: Date.now() + 60_000 },
      ...{ detail: 'fetch failed (ECONNREFUSED)', attempts: 3, sessionKey: kept },
    };
    const { presence } = rig().ports;
    const service = { name: 'delivery', problems: [], warnings: [], metrics: {}, waiting: [waiting] };
    const at = Date.now();
    await presence.tell({ v: 1, process: 'delivery-1', version: '0', startedAt: at, at, services: [service] });
    afterwards(() => presence.leave('delivery-1'));
    const card = page.locator('.item', { hasText: 'ECONNREFUSED' });
    await card.getByText(/^fetch failed \(ECONNREFUSED\)\. Tried 3 times; the next try is at .*\d/).waitFor();
    await card.getByRole('link', { name: 'The allotment' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('edits an older message in sight on a small screen, also while the field grows, until another one is sent', async () => {
    const key = 'agent:main:long';
    for (const nr of [1, 2, 3]) await rig().client.sessions.post(key, `words ${nr}\n${'and more\n'.repeat(6)}`, { wait: 30 });
    const { page } = await open(390);
    await page.setViewportSize({ width: 390, height: 844 });
    await goTo(page, place(key));
    const older = page.locator('.said-user', { hasText: 'words 2' });
    await older.getByRole('button', { name: 'Edit' }).click();
    const isInSight = async (): Promise<boolean> => {
      const [field, list] = await Promise.all([
        page.getByLabel('Edited message').boundingBox(),
        page.locator('.messages').boundingBox(),
      ]);
      return field !== null && list !== null && field.y >= list.y && field.y + field.height <= list.y + list.height;
    };
    const isAtRest = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
    await page.evaluate(isAtRest);
    expect(await isInSight()).toBe(true);
    await page.getByLabel('Edited message').pressSequentially('a line '.repeat(30));
    await page.evaluate(isAtRest);
    expect(await isInSight()).toBe(true);

    // Who sends another message meanwhile sees that one, and its answer.
    await page.getByLabel('Message', { exact: true }).fill(`words 4\n${'and more\n'.repeat(6)}`);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('.said-assistant', { hasText: 'words 4' }).waitFor();
    const fromEnd = () => page.locator('.messages').evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
    await vi.waitFor(async () => expect(await fromEnd()).toBeLessThan(2), soon);
    expect(await page.getByLabel('Edited message').count()).toBe(1);
    // Nor is it lost where the browser itself moves the text on, as it draws what is above at its true height, and what is below grows too.
    await page.locator('.messages').evaluate((list) => {
      Object.assign(list.lastElementChild as object, { style: 'margin-bottom: 300px' });
      list.scrollTop += 40;
    });
    await vi.waitFor(async () => expect(await fromEnd()).toBeLessThan(2), soon);
  });
});
