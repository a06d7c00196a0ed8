import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { Session } from '../../../../shared/client/main.ts';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** What people stumbled on who were told nothing but to open the page. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string): string => `#/sessions/${encodeURIComponent(key)}/chat`;

describe.skipIf(!hasBrowser)('who opens the page for the first time', () => {
  /** A model of a provider without its key. */
  const gone = { kind: 'anthropic', apiKeyEnv: 'NO_SUCH_KEY', models: ['model'] };
  const settings = { tools: { exec: { enabled: true } }, model: { providers: { gone } } };
  const { rig, open } = usePage(settings, async ({ client: { sessions } }) => {
    await sessions.post('agent:main:first', 'earlier', { wait: 30 });
    await sessions.post('agent:main:second', 'later', { wait: 30 });
  });
  const field = 'Message';

  test('writes at once in a new chat, is called "You", and keeps its words in sight and writes on after a stop', async () => {
    const { page, faults } = await open();
    const refused: string[] = [];
    page.on('response', (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    await page.locator('.composer textarea:focus').waitFor();
    await page.keyboard.type('[[think 60000]] [[size 4000]] hello there');
    await page.keyboard.press('Enter');
    await page.locator('.said-user .said-who', { hasText: 'You' }).waitFor();
    const stop = page.getByRole('button', { name: 'Stop the answer' });
    await stop.getByText('Stop').waitFor();
    await page.locator('.said-assistant[aria-busy] p').waitFor();
    await stop.click();
    await page.getByText('Stopped by you. The unfinished answer above is not kept: it is gone after a reload').waitFor();
    await page.locator('.said-assistant:not([aria-busy]) p').first().waitFor();
    await page.keyboard.type('and now');
    expect(await page.getByLabel(field, { exact: true }).inputValue()).toBe('and now');
    await page.locator('.session-head .badge').waitFor();
    expect(refused).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('finds again what was written and not sent: in a new chat, and of a memory', async () => {
    const { page, faults } = await open();
    const message = page.getByLabel(field, { exact: true });
    const newChat = page.getByRole('button', { name: 'New chat' });
    await newChat.click();
    const oneLine = await message.evaluate((one) => one.clientHeight);
    await message.fill('word '.repeat(60));
    // All of it is in sight: the field grows with its text, whether or not its lines end, up to six of them.
    const heights = () => message.evaluate(({ clientHeight, scrollHeight }) => ({ clientHeight, scrollHeight }));
    const grown = await heights();
    expect(grown.clientHeight).toBe(grown.scrollHeight);
    expect(grown.clientHeight).toBeGreaterThan(oneLine);
    await message.fill('word '.repeat(600));
    const full = await heights();
    expect(full.clientHeight).toBeLessThan(full.scrollHeight);
    expect(full.clientHeight).toBeLessThan(7 * oneLine);
    await message.fill('not sent yet');
    const address = page.url();
    await goTo(page, place('agent:main:first'));
    await page.locator('.said-user', { hasText: 'earlier' }).waitFor();
    await newChat.click();
    await message.and(page.locator(':focus')).waitFor();
    expect(await message.inputValue()).toBe('not sent yet');
    await goTo(page, '#/system/memory');
    const memory = page.getByLabel('Add a memory', { exact: false });
    await memory.fill('Ann prefers tea');
    // A keyboard on a screen has no Shift+Enter: there Enter begins a new line.
    const touch = await page.context().newCDPSession(page);
    await touch.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await page.reload();
    await memory.waitFor();
    expect(await memory.inputValue()).toBe('Ann prefers tea');
    await goTo(page, '#/');
    await newChat.click();
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    expect([page.url(), await message.inputValue()]).toEqual([address, 'not sent yet']);
    await message.press('End');
    await message.pressSequentially('\non two lines');
    await page.getByText('Enter begins a new line, the button sends.').waitFor();
    expect(await message.inputValue()).toBe('not sent yet\non two lines');
    await touch.send('Emulation.setTouchEmulationEnabled', { enabled: false });
    await message.press('Enter');
    await page.locator('.said-assistant', { hasText: 'on two lines' }).waitFor();
    await newChat.click();
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    expect(await message.inputValue()).toBe('');
    expect(page.url()).not.toBe(address);
    for (const tab of ['Transcript', 'Time machine']) {
      await page.getByRole('link', { name: tab }).click();
      await page.getByText('Nothing was said in it yet.').waitFor();
      expect(await page.getByText('deleted', { exact: false }).count()).toBe(0);
    }
    // Who comes back to it may want to read: no keyboard covers the screen.
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await message.waitFor();
    expect(await message.evaluate((one) => one.matches(':focus'))).toBe(false);
    expect(faults).toEqual([]);
  });

  test('edits in the field that has the focus, through a reload; what is in it is sent', async () => {
    const key = 'agent:main:web:typed';
    await rig().client.sessions.post(key, 'first words', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key));
    await page.locator('.said-user').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').and(page.locator(':focus')).waitFor();
    expect(await page.locator('.said-user .plain').count()).toBe(0);
    await page.keyboard.type(', and more');
    await page.reload();
    await page.getByLabel('Edited message').waitFor();
    expect(await page.getByLabel('Edited message').inputValue()).toBe('first words, and more');
    await page.getByRole('button', { name: 'Send instead' }).click();
    await page.locator('.said-assistant', { hasText: 'first words, and more' }).waitFor();
    await page.getByRole('button', { name: 'Labels' }).click();
    await page.keyboard.type('home');
    await page.keyboard.press('Enter');
    await page.getByText('Labels: home').waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Name', { exact: true }).fill('The allotment');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The allotment' }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Icon', { exact: true }).fill('🌱');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '🌱 The allotment' }).waitFor();
    await page.locator('.row-title', { hasText: /^🌱 The allotment$/ }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('The allotment');
    await page.getByLabel('Name', { exact: true }).fill('The other allotment');
    await page.getByText('one emoji', { exact: true }).waitFor();
    await page.getByLabel('Icon', { exact: true }).fill('seeds');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText(/use one emoji, such as "🌱"$/)
      .waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('The other allotment');
    await page.getByLabel('Icon', { exact: true }).fill('🌾');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '🌾 The other allotment' }).waitFor();
    await page.getByLabel('Name', { exact: true }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('is asked before "Try again" leaves anything behind, and then sees the new answer', async () => {
    const key = 'agent:main:web:again';
    const { sessions } = rig().client;
    for (let count = 0; count < 12; count++) await sessions.post(key, `question ${count}`, { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key));
    const first = page.locator('.said-user').first();
    await first.getByRole('button', { name: 'Try again' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This message and what is below it are left behind: 24 messages.', { exact: false }).waitFor();
    expect(await dialog.getByText('Tools run again', { exact: false }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await sessions.get(key)).generation).toBe(1);
    await first.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    const newest = page.locator('.said-assistant').last();
    await vi.waitFor(async () => {
      expect((await sessions.get(key)).generation).toBe(2);
      expect(await newest.textContent()).toContain('question 0');
      expect(await page.getByRole('button', { name: 'To the newest' }).count()).toBe(0);
    }, soon);
    await page.getByText('Left behind by the retry: 24 messages').waitFor();
    expect(faults).toEqual([]);
  });

  test('is asked before "Try again" of the first message stops its answer, and reads what was done', async () => {
    const key = 'agent:main:web:impatient';
    await rig().client.sessions.post(key, '[[think 60000]] hello', {});
    const { page, faults } = await open();
    await goTo(page, place(key));
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    await page.locator('.said-user').getByRole('button', { name: 'Try again' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The answer under way is stopped, and is not kept.', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page
      .locator('.mark', { hasText: /^Tried again from the beginning by you\. The agent no longer knows what is above/ })
      .waitFor();
    await page.locator('.session-head', { hasText: 'Tried again from the beginning' }).waitFor();
    await page.getByText('Left behind by the retry: 1 message').click();
    await page.locator('.left-behind .mark', { hasText: /^Stopped\. / }).waitFor();
    await page.getByRole('button', { name: 'Stop the answer' }).click();
    expect(faults).toEqual([]);
  });

  test('sees what waits below the answer that is under way, and each question above its own answer', async () => {
    const key = 'agent:main:web:queue';
    const { sessions } = rig().client;
    const { page, faults } = await open();
    // A message from here does not do what one from the channel does.
    await page.route(`**/v1/sessions/${encodeURIComponent(key)}`, async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as Session;
      await route.fulfill({ response, json: { ...session, queueMode: 'steer' } });
    });
    await sessions.post(key, '[[think 8000]] one', {});
    await goTo(page, place(key));
    await page.getByRole('button', { name: 'Stop the answer' }).waitFor();
    await page.locator('.composer .hint', { hasText: 'A message sent now is answered after this one.' }).waitFor();
    // A call may still be on its way through the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const text of ['two', 'three']) await sessions.post(key, text, {});
    const waiting = page.locator('.said-user', { hasText: 'waits in the queue' });
    await vi.waitFor(async () => expect(await waiting.count()).toBe(2), soon);
    await page.locator('.composer .hint', { hasText: 'is answered after this one and the 2 that wait.' }).waitFor();
    expect(await waiting.getByRole('button', { name: /Edit|Try again/ }).count()).toBe(0);
    await page.locator('.said-assistant', { hasText: 'three' }).waitFor();
    expect(await page.locator('.said .plain, .said .prose').allTextContents()).toEqual([
      ...['[[think 8000]] one', expect.stringContaining('one'), 'two', expect.stringContaining('two')],
      ...['three', expect.stringContaining('three')],
    ]);
    expect(faults).toEqual([]);
  });

  test('is told what a deletion loses, and where it was sees that it is gone, in the search as well', async () => {
    const key = 'agent:main:web:gone';
    await rig().client.sessions.post(key, 'a walrus', { wait: 30 });
    const { page, faults } = await open();
    await page.getByLabel('Search sessions').fill('walrus');
    await page.locator('.found a', { hasText: 'a walrus' }).last().click();
    await page.locator('.said-found', { hasText: 'a walrus' }).first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('There is no way back', { exact: false }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This session was deleted.').waitFor();
    await vi.waitFor(async () => {
      expect(await page.locator('.found a').count()).toBe(0);
      expect(await page.locator('.session-head .badge').count()).toBe(0);
    }, soon);
    expect(await page.getByLabel(field, { exact: true }).count()).toBe(0);
    await page.locator('.said-user', { hasText: 'a walrus' }).first().waitFor();
    expect(
      await page
        .locator('.said')
        .getByRole('button', { name: /Edit|Try again/ })
        .count(),
    ).toBe(0);
    await page.getByRole('button', { name: 'Begin anew here' }).click();
    await page.getByLabel(field, { exact: true }).waitFor();
    for (const tab of ['Transcript', 'Time machine']) {
      await page.getByRole('link', { name: tab }).click();
      await page.getByText('This session was deleted, or nothing was said in it yet.').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    expect(faults).toEqual([]);
  });

  test('sees the transcript of a session go when somebody else deletes it', async () => {
    const key = 'agent:main:web:theirs';
    const { sessions } = rig().client;
    await sessions.post(key, 'a badger', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key).replace('/chat', '/transcript'));
    await page.getByText('a badger', { exact: false }).nth(1).waitFor();
    await sessions.delete(key);
    await page.getByText('This session was deleted, or nothing was said in it yet.').waitFor();
    expect(await page.locator('.line').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('labels several sessions at once, and finds them by their label', async () => {
    const { sessions } = rig().client;
    const keys = ['one', 'two'].map((name) => `agent:main:labelled:${name}`);
    for (const key of keys) await sessions.post(key, 'a lynx', { wait: 30 });
    await sessions.patch(keys[0] ?? '', { labels: ['friends of the house', 'b', 'c'] });
    const { page, faults } = await open();
    await page.getByLabel('Search sessions').fill('lynx');
    const rows = page.locator('a.row');
    await vi.waitFor(async () => expect(await rows.count()).toBe(2), soon);
    // The chips that are not in sight are counted, and none is cut off by the row.
    const chips = rows.filter({ hasText: 'labelled:one' }).locator('.row-label');
    await vi.waitFor(async () => expect(await chips.allTextContents()).toEqual(['friends of the house', 'b', '+1']), soon);
    const [edge, end] = await Promise.all([chips.last(), rows.first()].map((each) => each.boundingBox()));
    expect((edge?.x ?? 0) + (edge?.width ?? 0)).toBeLessThanOrEqual((end?.x ?? 0) + (end?.width ?? 0));
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    for (const row of await rows.all()) await row.click();
    await page.getByRole('button', { name: 'Labels…' }).click();
    await page.getByLabel('Labels, with commas between them').fill('zoo, c');
    await page.keyboard.press('Enter');
    await page.getByText('2 labelled.').waitFor();
    await rows.getByText('Unread', { exact: true }).last().waitFor();
    await page.getByRole('button', { name: 'Mark as read' }).click();
    await page.getByText('2 marked as read.').waitFor();
    await vi.waitFor(async () => expect(await rows.getByText('Unread', { exact: true }).count()).toBe(0), soon);
    expect((await sessions.get(keys[0] ?? '')).settings.labels).toEqual(['friends of the house', 'b', 'zoo', 'c']);
    expect((await sessions.get(keys[1] ?? '')).settings.labels).toEqual(['zoo', 'c']);
    await page.getByLabel('Search sessions').fill('');
    await vi.waitFor(async () => expect(await rows.count()).toBeGreaterThan(2), soon);
    await page.locator('.filters select').last().selectOption('zoo');
    await vi.waitFor(async () => expect(await rows.count()).toBe(2), soon);
    expect(page.url()).toContain('label=zoo');
    // Both are selected still.
    await page.getByLabel('Select labelled:one').uncheck();
    await page.getByLabel('Labels, with commas between them').fill('zoo');
    await page.getByRole('button', { name: 'Remove labels' }).click();
    await vi.waitFor(async () => expect(await rows.count()).toBe(1), soon);
    expect((await sessions.get(keys[1] ?? '')).settings.labels).toEqual(['c']);
    expect(faults).toEqual([]);
  });

  test('finds an answer that failed in the list, above the chat, in it, and in both views of the log', async () => {
    const key = 'agent:main:web:failed';
    await rig().client.sessions.post(key, '[[fail busy]] now', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key));
    const words = [/^Error: Last answer failed/, /^Error: Last answer failed/, /^Error: No answer/] as const;
    for (const [at, selector] of ['a.row .row-failed', '.session-head .badge-fail', '.mark-bad'].entries())
      await page
        .locator(selector)
        .filter({ hasText: words[at] ?? '' })
        .first()
        .waitFor();
    await goTo(page, place(key).replace('/chat', '/transcript'));
    await page.locator('.line-error .line-type', { hasText: 'Error: answer failed' }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download Markdown' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^now-\d{4}-\d\d-\d\d\.md$/);
    expect(readFileSync(await file.path(), 'utf8')).toMatch(/\n\*\(failed: /);
    await goTo(page, place(key).replace('/chat', '/time'));
    await page.locator('.commit-error .commit-type', { hasText: 'Error: answer failed' }).waitFor();
    const colours = new Set<string>();
    for (const selector of ['a.row .row-failed', '.session-head .badge-fail', '.commit-error .commit-type'])
      colours.add(
        await page
          .locator(selector)
          .first()
          .evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).color ?? ''),
      );
    expect([...colours]).toEqual(['rgb(163, 49, 42)']);
    await rig().client.sessions.post(key, 'and now', { wait: 30 });
    await page.locator('.row-failed', { hasText: 'Last answer failed' }).first().waitFor({ state: 'detached' });
    await page.locator('.session-head .badge-fail').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('reads which model a session was given, that it failed, and what to do about it', async () => {
    const key = 'agent:main:web:model';
    const { sessions } = rig().client;
    await sessions.post(key, 'hello', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key));
    await page.getByText('model: offline (built-in)', { exact: true }).waitFor();
    await sessions.patch(key, { model: 'gone/model' });
    await page.getByText('model: gone/model, set by /model', { exact: true }).waitFor();
    await sessions.post(key, 'are you there?', { wait: 30 });
    await page.locator('.mark-bad', { hasText: /No answer from gone\/model: .*→ choose a model that it offers/ }).waitFor();
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.getByRole('button', { name: 'One commit back' }).click();
    await page
      .locator('.moment-error', { hasText: '→ choose a model that it offers: agent.model in the configuration' })
      .waitFor();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    const dialog = page.getByRole('dialog');
    for (const words of ['No answer from gone/model: ', 'choose a model that it offers'])
      await dialog.getByText(words, { exact: false }).waitFor();
    await dialog.getByLabel('Use the agent’s own model again, not gone/model').check();
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.composer textarea:focus').waitFor();
    await page.keyboard.type('and now?');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'and now?' }).waitFor();
    expect((await sessions.get(key)).settings.model).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test('is told at the field that the next message starts afresh, once the reset is due', async () => {
    const key = 'agent:main:web:stale';
    await rig().client.sessions.post(key, 'hello', { wait: 30 });
    const { page, faults } = await open();
    await page.route(`**/v1/sessions/${encodeURIComponent(key)}`, async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as Session;
      const due = { ...session.nextReset, idleAt: Date.now() - 1_000 };
      await route.fulfill({ response, json: { ...session, nextReset: due, nextResetByCall: due } });
    });
    await goTo(page, place(key));
    await page.getByText('Your next message starts afresh: the agent will not know what is above.').waitFor();
    await page.getByText('its idle limit passed at').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByText('Your next message starts afresh: the agent will not know what is above.').waitFor();
    // A call may still be on its way through the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults).toEqual([]);
  });

  test('is told whose message starts afresh where a channel has a rule of its own, and that the channel gets none of theirs', async () => {
    const key = 'agent:main:dm:ann';
    const ann = { text: 'hello', sender: { id: 'telegram:1001', name: 'Ann' }, deliverTo: { channel: 'telegram', to: '1001' } };
    await rig().client.sessions.post(key, ann, { wait: 30 });
    const { page, faults } = await open();
    await page.route(`**/v1/sessions/${encodeURIComponent(key)}`, async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as Session;
      const nextReset = { ...session.nextReset, rule: 'session.resetByChannel.telegram', idleAt: Date.now() - 1_000 };
      await route.fulfill({ response, json: { ...session, nextReset } });
    });
    await goTo(page, place(key));
    await page.locator('.session-facts', { hasText: 'channel: telegram' }).getByText('participants: 1001 on telegram').waitFor();
    await page.locator('a.row-open .row-channel', { hasText: 'telegram' }).waitFor();
    await page.getByText('A message from telegram starts afresh, yours goes on: its idle limit passed at').waitFor();
    await page.getByText('Neither what you write here nor its answer is sent to telegram.').waitFor();
    expect(await page.getByText('Your next message starts afresh').count()).toBe(0);
    await page.getByLabel(field, { exact: true }).fill('and I');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'You said: and I' }).waitFor();
    await page.locator('.said-user .said-who', { hasText: 'You' }).waitFor();
    // What Ann said is hers: said again from here, its answer would not reach her.
    const actions = page.locator('.said-user', { has: page.getByRole('button', { name: 'Try again' }) });
    expect(await actions.locator('.plain').allTextContents()).toEqual(['and I']);
    const names: unknown[] = [];
    for await (const { role, sender } of rig().client.sessions.messages(key)) if (role === 'user') names.push(sender?.name);
    expect(names).toEqual(['Ann', 'Owner']);
    // A call may still be on its way through the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults).toEqual([]);
  });

  test('sees the whole of an error that comes on a small screen', async () => {
    const key = 'agent:main:web:narrow';
    await rig().client.sessions.post(key, '[[size 4000]] much', { wait: 30 });
    const { page, faults } = await open(390);
    await goTo(page, place(key));
    await page.getByLabel(field, { exact: true }).fill('[[fail the_provider_is_busy]] and now');
    await page.keyboard.press('Enter');
    await page.locator('.mark-bad').waitFor();
    const hidden = () =>
      page.locator('.messages').evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    await vi.waitFor(async () => expect(await hidden()).toBeLessThan(2), soon);
    expect(faults).toEqual([]);
  });

  test('finds a session by its name and by its key, not by the agent in every key; in the events alike', async () => {
    const { sessions } = rig().client;
    const key = 'agent:main:main';
    await sessions.post(key, 'from Ann', { wait: 30 });
    await sessions.patch(key, { displayName: 'Ann', icon: '🌱', pinned: true, labels: ['garden', 'spring', 'long words here'] });
    await sessions.post('agent:main:work', 'a task', { wait: 30 });
    const { page, faults } = await open();
    await page.getByLabel('Search sessions').fill('main');
    await page.locator('.row-key', { hasText: 'main' }).waitFor();
    await vi.waitFor(async () => expect(await page.locator('a.row .row-title').allTextContents()).toEqual(['🌱 Ann']), soon);
    const goBy = async (letters: string, option: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'A view, a session by its name, or what was said' }).fill(letters);
      await page.getByRole('option', { name: option, selected: true, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page
        .getByRole('combobox', { name: 'A view, a session by its name, or what was said' })
        .waitFor({ state: 'detached' });
    };
    await goBy('work', 'work work');
    await page.getByRole('heading', { name: 'work', exact: true }).waitFor();
    await goBy('main', '🌱 Ann main');
    await page.getByRole('heading', { name: '🌱 Ann' }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ann');
    await goBy('dark', 'You your account, light or dark, signing out');
    await goTo(page, '#/events');
    await page.getByLabel('Session, by its name or key').pressSequentially('ann');
    await page.locator('.event-key', { hasText: 'Ann' }).first().waitFor();
    await vi.waitFor(
      async () => expect(new Set(await page.locator('.event-key').allTextContents())).toEqual(new Set(['Ann'])),
      soon,
    );
    // Enter, before the gateway has answered, opens what it finds: the list does not have this one.
    await goTo(page, '#/sessions?q=reset');
    await page
      .getByRole('navigation', { name: 'Views with these words' })
      .getByRole('link', { name: 'Resets and forks' })
      .waitFor();
    let answer = (): void => {};
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/v1\/sessions\?.*q=ann/, (route) => mayAnswer.then(() => route.continue()));
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'A view, a session by its name, or what was said' }).fill('ann');
    await page.keyboard.press('Enter');
    await page.getByText('Looking for sessions').waitFor();
    answer();
    await page.getByRole('heading', { name: '🌱 Ann', exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'A view, a session by its name, or what was said' }).fill('were reset');
    await page.getByRole('option', { name: /^Resets and forks/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/events?type=session_reset');
    // A chat without a name has one name wherever it is, its first words; also where the list does not have it.
    await sessions.post('agent:main:web:k2j9x1', 'Plan the pond', { wait: 30 });
    await goTo(page, '#/sessions?q=pond');
    await page.locator('a.row .row-title', { hasText: 'Plan the pond' }).waitFor();
    await page.locator('.found-where', { hasText: /^Plan the pond, to the agent/ }).waitFor();
    await goTo(page, '#/sessions?q=pond&status=failed');
    await page.locator('.found-where', { hasText: /^Plan the pond, to the agent/ }).waitFor();
    await goTo(page, '#/sessions');
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await sessions.patch(key, { displayName: 'Garden plan' });
    const name = page.locator('.row-title', { hasText: /^🌱 Garden plan$/ });
    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(faults).toEqual([]);
  });

  test('finds the list in the order of what was said, whatever else is done to a session; what is archived is one click away', async () => {
    const { sessions } = rig().client;
    for (const name of ['old', 'new']) await sessions.post(`agent:main:order:${name}`, `a heron, ${name}`, { wait: 30 });
    await sessions.patch('agent:main:order:old', { labels: ['kept'] });
    const { page, faults } = await open();
    await page.getByLabel('Search sessions').fill('heron');
    await page.locator('.row-label', { hasText: 'kept' }).waitFor();
    const names = page.locator('a.row .row-name');
    const inOrder = [expect.stringContaining('new'), expect.stringContaining('old')];
    await vi.waitFor(async () => expect(await names.allTextContents()).toEqual(inOrder), soon);
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await page.locator('a.row').first().click();
    await page.getByText('1 session selected').waitFor();
    for (const name of ['old', 'new']) await sessions.deactivate(`agent:main:order:${name}`, {});
    await page.getByRole('button', { name: 'Show 2 archived' }).click();
    await vi.waitFor(async () => expect(await names.count()).toBe(2), soon);
    expect(faults).toEqual([]);
  });

  test('sees in System at once whether anything is wrong, and tabs that stay where they are', async () => {
    const { page, faults } = await open();
    await page.getByRole('link', { name: 'System' }).click();
    await page.getByRole('heading', { name: 'Doctor' }).waitFor();
    const tops = new Set<number | undefined>();
    for (const name of ['first', 'second']) {
      await goTo(page, place(`agent:main:${name}`));
      await page.getByText('model: offline (built-in)').waitFor();
      tops.add((await page.locator('.tabs').boundingBox())?.y);
    }
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    tops.add((await page.locator('.tabs').boundingBox())?.y);
    expect(tops.size).toBe(1);
    expect(faults).toEqual([]);
  });
});
