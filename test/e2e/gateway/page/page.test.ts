import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { SessionPage } from '../../../../shared/client/main.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, picture, usePage, wrongIn } from './use-page.ts';

/** The page in a real browser, on the whole product. */

/** What the browser has, and the types of Node do not. */
declare const getComputedStyle: (element: object) => { readonly textAlign: string };
declare const navigator: { readonly clipboard: { readText(): Promise<string> } };

const main = 'agent:main:main';
const work = 'agent:main:work';
const forked = 'agent:main:forked';
const hostile = 'agent:main:hostile';
const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

/** Notes each text that the answers of a chat have from now on, as they grow. */
const textsShown = async (page: Page): Promise<() => Promise<string[]>> => {
  await page.locator('.messages').evaluate((messages) => {
    const shown: string[] = [];
    Object.assign(globalThis, { shown });
    const { MutationObserver } = messages.ownerDocument.defaultView as unknown as {
      MutationObserver: new (then: () => void) => { observe(of: unknown, what: object): void };
    };
    new MutationObserver(() => {
      shown.push([...messages.querySelectorAll('.said-assistant .prose')].map(({ textContent }) => textContent).join(' | '));
    }).observe(messages, { childList: true, characterData: true, subtree: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
};

describe.skipIf(!hasBrowser)('the page', () => {
  /** A model of a provider without its key. */
  const gone = { kind: 'anthropic', apiKeyEnv: 'NO_SUCH_KEY', models: ['model'] };
  const settings = { tools: { exec: { enabled: true } }, model: { providers: { gone } } };
  const { rig, open } = usePage(settings, async ({ client: { sessions } }) => {
    for (const text of ['hello', 'and **again**']) await sessions.post(main, text, { wait: 30 });
    await sessions.reset(main, { reason: 'test' });
    await sessions.post(main, 'a fresh start', { wait: 30 });
    await sessions.post(main, '[[fail busy]] now', { wait: 30 });
    await sessions.post(forked, 'which way?', { wait: 30 });
    const { seq } = await sessions.get(forked);
    await sessions.post(forked, 'to the left', { wait: 30 });
    await sessions.fork(forked, { at: seq });
    await sessions.post(forked, 'to the right, where the path goes on along the river until the sea', { wait: 30 });
    await sessions.patch(forked, { pinned: true, labels: ['travel'] });
    const bad =
      '<img src=x onerror="fetch(1)"><script>throw 1</script> ![x](https://evil.example/?q) [click](javascript:alert(1)) **bold**';
    await sessions.post(hostile, { text: bad, sender: { id: 'x', name: '<b onclick=alert(1)>Eve</b>' } }, { wait: 30 });
    await sessions.patch(hostile, { displayName: '<img src=x onerror=alert(1)>' });
  });

  test('signs in with a code that leaves the address, survives a reload, and signs out', async () => {
    const { page, faults } = await open();
    expect(page.url()).not.toContain('code');
    await page.reload();
    await page.getByRole('link', { name: /main/ }).first().waitFor();
    await page.getByRole('link', { name: 'You', exact: true }).click();
    await page.getByText('Administrator').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByText('Each tab signs in by itself').waitFor();
    expect(new URL(page.url()).hash).toBe('#/');
    await page.getByText('natter open').waitFor();
    const stored = await page.evaluate(() =>
      JSON.stringify((globalThis as unknown as { sessionStorage: object }).sessionStorage),
    );
    expect(stored).not.toContain('natter_');
    expect(faults).toEqual([]);
  });

  test('a chat goes on in the same bubble when one of two gateways is killed while it streams, with no word twice', async () => {
    const { page, faults } = await open();
    const key = 'agent:main:web:killed';
    await goTo(page, place(key, 'chat'));
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
    await page.getByLabel('Message', { exact: true }).fill(`[[think 3000]] ${words}`);
    await page.keyboard.press('Enter');
    const answer = page.locator('.said-assistant');
    await answer.getByText('word3').waitFor();
    const shown = await textsShown(page);
    await rig().killGateway();
    await answer.getByText('word39').waitFor();
    await page.locator('.said-assistant:not([aria-busy])').waitFor();
    expect(await answer.count()).toBe(1);
    const whole = `You said: ${words}`;
    expect((await answer.locator('.prose').textContent())?.trim()).toBe(whole);
    const texts = await shown();
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => !whole.startsWith(text.trim()))).toEqual([]);
    await page.reload();
    await answer.getByText('word39').waitFor();
    expect(await answer.count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('an edited message continues from before it; a command is completed; what is earlier is read on demand', async () => {
    const key = 'agent:main:web:edit';
    const { sessions } = rig().client;
    await sessions.post(key, 'keep this', { wait: 30 });
    await sessions.post(key, 'a mistake', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key, 'chat'));
    const mistake = page.locator('.said-user', { hasText: 'a mistake' });
    await mistake.getByRole('button', { name: 'Edit' }).press('Enter');
    await page.getByLabel('Edited message').fill('what was meant');
    await page.getByRole('button', { name: 'Send instead' }).press('Enter');
    await page.locator('.said-assistant', { hasText: 'what was meant' }).waitFor();
    await page.locator('.mark', { hasText: 'Edited from commit 1 by you: ' }).waitFor();
    // What the edit left behind is folded away, and nothing is done with it any more.
    await page.getByText('Left behind by the edit: 2 messages').click();
    await mistake.waitFor();
    expect(await mistake.getByRole('button').count()).toBe(0);
    expect(await page.locator('.said-user', { hasText: 'keep this' }).getByRole('button').count()).toBe(2);
    const { context } = await sessions.state(key);
    expect(context.generation).toBe(2);
    await page.reload();
    await page.locator('.said-assistant', { hasText: 'what was meant' }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('/na');
    await page.getByText('shows or changes the name of this session').waitFor();
    // Enter completes it as Tab does: a command that is not written to its end is no message.
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('/name ');
    await page.getByLabel('Message', { exact: true }).fill('/na');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('/name ');
    // The arrows go through the list, which says how long it is; Escape closes it and leaves what is written.
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('/');
    const options = page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    await page.getByText(`${await options.count()} choices: ↑ ↓ choose, Tab takes, Escape closes`).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => options.last().getAttribute('aria-selected')).toBe('true');
    expect(await field.getAttribute('aria-activedescendant')).toBe(await options.last().getAttribute('id'));
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('/pair ');
    await field.fill('/na');
    await options.first().waitFor();
    await page.keyboard.press('Escape');
    await options.first().waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('/na');
    expect(await field.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(faults).toEqual([]);
  });

  test('an approval is answered once, from the inbox, by keyboard alone', async () => {
    await rig().client.sessions.post(work, '[[tool exec {"command": ["true"]}]] please', {});
    const { page, faults } = await open();
    await goTo(page, '#/approvals');
    const card = page.getByRole('article');
    const where = /^in .*workspace, on the session’s host \(session-\d.* of session-1 when it was asked\)$/;
    await goTo(page, place(work, 'chat'));
    await page.locator('.approval dd', { hasText: where }).waitFor();
    await goTo(page, '#/approvals');
    await card.getByText('true', { exact: true }).waitFor();
    await card.locator('dd', { hasText: where }).waitFor();
    await card.getByText(/“.*please”/).waitFor();
    await card.getByRole('link', { name: 'work', exact: true }).waitFor();
    await page.reload();
    const allow = page.getByRole('button', { name: 'Allow once' });
    await allow.waitFor();
    for (let presses = 0; presses < 30 && !(await allow.evaluate((element) => element.matches(':focus'))); presses++)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await card.getByText(/It ran/).waitFor();
    await card.getByText('[exit code 0]').waitFor();
    await card.getByText(/Allowed by you/).waitFor();
    expect(await card.locator('.approval-answer').evaluate((element) => element.matches(':focus'))).toBe(true);
    await goTo(page, '#/account');
    await goTo(page, '#/approvals');
    await page.getByText('Nothing to approve').waitFor();
    await goTo(page, place(work, 'chat'));
    await page.getByText(/Allowed by you, .*\d/).waitFor();
    // The call and its outcome are below the question that it answers.
    expect(
      await page.locator('.messages > :is(.approval, .tool)').evaluateAll((all) => all.map((each) => each.className)),
    ).toEqual([expect.stringMatching(/^approval/), 'tool tool-ok']);
    await page.getByText('please', { exact: false }).last().waitFor();
    // The time machine tells the question at the answer, and the answer at the question.
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.getByRole('button', { name: 'Previous approval' }).click();
    await page.locator('.jump-approval b', { hasText: /^1$/ }).waitFor();
    await page.getByText(/^Waits for a person: true\. .*It was allowed by you after /).waitFor();
    await page.getByRole('button', { name: 'Show the answer' }).click();
    await page.getByText(/^Waited for a person: true\. .*It was allowed by you after /).waitFor();
    await page.getByRole('button', { name: 'Show the question' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('the time machine folds what the gateway folds, at each moment, and jumps to what a person looks for', async () => {
    const { page, faults } = await open();
    await goTo(page, place(main, 'time'));
    const same = page.getByText('This page and the gateway agree on this commit');
    await same.waitFor();
    const number = page.getByLabel('Commit number');
    const count = Number(await number.getAttribute('max'));
    expect(count).toBeGreaterThan(4);
    await page.getByLabel('Commit', { exact: true }).focus();
    for (let moment = count - 1; moment > count - 4; moment--) {
      const compared = page.waitForResponse(/\/state\?at=/);
      await page.keyboard.press('ArrowLeft');
      expect(await number.inputValue()).toBe(`${moment}`);
      await compared;
      await same.waitFor();
    }
    // Were one field of the state another, it would say so.
    await page.route(/\/state\?at=/, async (asked) => {
      const response = await asked.fetch();
      const state = (await response.json()) as { context: { messages: number } };
      state.context.messages += 1;
      await asked.fulfill({ response, json: state });
    });
    await page.keyboard.press('ArrowRight');
    await page.getByText(/The gateway has another state after this commit: messages/).waitFor();
    await page.unroute(/\/state\?at=/);
    await number.fill('1');
    await number.press('Enter');
    await same.waitFor();
    // Its first commit opens the session and begins the turn.
    await page.getByRole('img', { name: /^State machine: Inactive to Idle to Running/ }).waitFor();
    expect(await page.locator('.machine-taken').count()).toBeGreaterThan(0);
    // A link to an early moment counts what comes after it as well.
    await page.reload();
    await page.getByText('Error 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next reset' }).click();
    await page.locator('.happened').getByText('session reset').waitFor();
    await page.getByText('by request: test').first().waitFor();
    await page.getByRole('button', { name: 'Next error' }).click();
    await page.locator('.happened').getByText('answer failed').waitFor();
    await page.getByRole('img', { name: 'State machine: Idle to Running to Idle' }).waitFor();
    expect(await page.locator('.machine-steps li').allTextContents()).toEqual([
      'Idle → Running: answer started',
      'Running → Idle: answer failed',
    ]);
    expect(await page.locator('.machine-taken').count()).toBe(2);
    // The moment in words: what the agent knew then, of this generation alone.
    await page.getByRole('region', { name: 'The session after this commit' }).getByText('1 answer', { exact: true }).waitFor();
    const moment = page.getByRole('region', { name: 'What the agent knew of the conversation' });
    await moment.getByRole('button', { name: 'Owner, over the API a fresh start', exact: true }).waitFor();
    expect(await moment.getByText('hello').count()).toBe(0);
    // The list is one stop of the Tab key: arrows move in it.
    const rows = page.getByRole('region', { name: 'Commits' });
    expect(await rows.locator('[tabindex="0"]').count()).toBe(1);
    const at = Number(await number.inputValue());
    await rows.locator('[tabindex="0"]').press('ArrowUp');
    expect(await number.inputValue()).toBe(`${at - 1}`);
    expect(await rows.locator('[aria-current]').evaluate((row) => row.matches(':focus'))).toBe(true);
    // The moment stays while one looks elsewhere.
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await page.getByRole('link', { name: 'Time machine' }).click();
    await expect.poll(() => number.inputValue()).toBe(`${at - 1}`);
    // Its keys work wherever the focus is, but in fields.
    await page.getByRole('link', { name: 'Time machine' }).focus();
    for (const [key, place] of [
      ['End', (await number.getAttribute('max')) ?? ''],
      ['Home', '0'],
      ['ArrowRight', '1'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => number.inputValue()).toBe(place);
    }
    await number.press('Home');
    expect(await number.inputValue()).toBe('1');
    await page.getByRole('button', { name: 'Next error' }).click();
    await page.getByRole('button', { name: 'Previous reset' }).click();
    await page.getByRole('button', { name: 'One commit back' }).click();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^This session goes on from commit \d+/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.why', { hasText: /Forked from commit \d+ by you, / }).waitFor();
    expect(faults).toEqual([]);
  });

  test('two forks stand side by side from their common ancestor, with what differs marked', async () => {
    const { page, faults } = await open();
    await goTo(page, `${place(forked, 'chat')}?label=travel`);
    await page.getByRole('link', { name: 'Compare with what was left behind' }).click();
    const [left, right] = ['Left behind', 'Fork'].map((name) => page.getByRole('region', { name, exact: true }));
    await left?.getByText('to the left', { exact: false }).first().waitFor();
    await right?.getByText('to the right', { exact: false }).first().waitFor();
    expect(await left?.getByText('which way?').count()).toBe(0);
    expect(await left?.locator('.branch-differs').count()).toBe(2);
    await right?.getByText(/^At its end the agent knew [2-9] messages in all\.$/).waitFor();
    for (const name of ['tokens that they do not share', 'times it began, was reset or forked'])
      await page.locator('.branch-state').getByRole('rowheader', { name, exact: true }).waitFor();
    expect(
      await page
        .locator('.branch-state')
        .getByText(/epoch|skips|started/)
        .count(),
    ).toBe(0);
    // Settings are one line below what was said and what it made of the session.
    await page.getByText('Settings changed: pinned, labels').click();
    await page.locator('.branch-settings').getByRole('rowheader', { name: 'settings, pinned', exact: true }).waitFor();
    // The commit that it goes on from says so: each leads to the other.
    await page
      .getByText(/^To go back to what was left behind, fork from/)
      .getByRole('button', { name: 'commit 2' })
      .waitFor();
    await page.getByText('Both go on from').getByRole('button').click();
    const note = page.getByText(/^A fork goes on from here, at commit \d+$/);
    await note.getByRole('button').press('Enter');
    await page.locator('.happened').getByText('forked').waitFor();
    expect(await note.count()).toBe(0);
    await page.getByRole('button', { name: 'Compare with what was left behind' }).click();
    await page.getByRole('button', { name: 'Back to the commit' }).click();
    await page.locator('.happened').getByText('forked').waitFor();
    await page.getByRole('button', { name: 'Compare with what was left behind' }).waitFor();
    await page.getByText('This page and the gateway agree on this commit').waitFor();
    await picture(page, 'time-machine', 1_280, 120_000);
    expect(faults).toEqual([]);
  });

  test('a moment is compared with any other, which the address keeps', async () => {
    const { page, faults } = await open();
    await goTo(page, place(forked, 'time'));
    await page.getByText('This page and the gateway agree on this commit').waitFor();
    const [number, other] = ['Commit number', 'Compare with commit'].map((label) => page.getByLabel(label));
    const last = Number(await number?.inputValue());
    expect(await other?.inputValue()).toBe(`${last - 1}`);
    const alone = page.getByRole('region', { name: 'What it changed' });
    await alone.waitFor();
    await other?.fill('1');
    await other?.press('Enter');
    const between = (first: number, second: number) =>
      page.getByRole('region', { name: `What changed from commit ${first} to commit ${second}`, exact: true });
    // Both states have the message of the first commit; what came since is the fork, and its settings.
    await between(1, last)
      .locator('div', { has: page.getByText('times it began, was reset or forked', { exact: true }) })
      .getByText('1 2')
      .waitFor();
    await between(1, last).getByText('settings, pinned', { exact: true }).waitFor();
    expect(page.url()).toMatch(/[?&]with=1(&|$)/);
    await page.reload();
    await between(1, last).waitFor();
    // The other moment stays while this one is chosen anew; the earlier of both is always the first.
    await page.getByRole('button', { name: 'One commit back' }).click();
    await between(1, last - 1).waitFor();
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await between(0, 1).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await other?.fill(`${last + 5}`);
    await other?.press('Enter');
    await between(0, last).waitFor();
    expect(await other?.inputValue()).toBe(`${last}`);
    await page.getByRole('button', { name: 'With the one before' }).press('Enter');
    await alone.getByText('There is no commit before the first.').waitFor();
    expect(await other?.evaluate((field) => field.matches(':focus'))).toBe(true);
    expect(page.url()).not.toContain('with=');
    expect(faults).toEqual([]);
  });

  test('sessions are found by what was said, filtered by the server, archived together, and restored', async () => {
    const { sessions } = rig().client;
    for (const name of ['one', 'two']) await sessions.post(`agent:main:bulk:${name}`, `a pelican of ${name}`, { wait: 30 });
    const { page, faults } = await open();
    await page.getByLabel('Search sessions').fill('pelican');
    await page.getByText('Said in 4 messages, the best match first').waitFor();
    await page.locator('.found a', { hasText: 'a pelican of one' }).first().waitFor();
    const choose = page.getByRole('button', { name: 'Select', exact: true });
    await choose.click();
    await page.keyboard.press('Escape');
    await choose.click();
    await page.getByRole('link', { name: 'You', exact: true }).click();
    await page.getByRole('heading', { name: 'You', exact: true }).waitFor();
    await page.goBack();
    await choose.click();
    for (const name of ['one', 'two']) await page.getByLabel(`Select bulk:${name}`).check();
    // What stays in the list stays selected, for what is done next.
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pin' }).click();
    await page.getByText('2 pinned. 2 sessions selected').waitFor();
    await page.getByRole('button', { name: 'Labels…' }).click();
    await page.getByLabel('Labels, with commas between them').fill('birds');
    await page.getByRole('button', { name: 'Add labels' }).click();
    await page.getByText('2 labelled. 2 sessions selected').waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByText('2 archived. 0 sessions selected').waitFor();
    await page.getByText('No session here has these words in its name.').waitFor();
    await page.getByLabel('Status').selectOption('inactive');
    await page.locator('a.row', { hasText: 'bulk:one' }).waitFor();
    expect(page.url()).toContain('status=inactive');
    await page.locator('.filters option', { hasText: 'birds' }).waitFor({ state: 'attached' });
    await page.getByLabel('Select bulk:one').check();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('1 restored.').waitFor();
    expect((await sessions.get('agent:main:bulk:one')).status).toBe('idle');
    await page.getByLabel('Search sessions').fill('');
    await page.getByLabel('Status').selectOption('active');
    const row = page.locator('a.row', { hasText: 'Pinned' });
    await row.getByText(/Forked from commit \d+/).waitFor();
    await goTo(page, place('agent:main:bulk:two', 'chat'));
    await page.locator('.why', { hasText: 'Archived: its next message brings it back' }).waitFor();
    expect(await page.locator('.why', { hasText: 'Resets' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a session is unread until somebody has opened its chat, can be marked as unread, and the unread ones alone can be listed', async () => {
    const { sessions } = rig().client;
    const key = 'agent:main:web:news';
    await sessions.post(key, 'a heron', { wait: 30 });
    expect((await sessions.get(key)).unread).toBe(true);
    const { page, faults } = await open();
    await page.getByLabel('Unread only').check();
    expect(page.url()).toContain('unread=1');
    const row = page.locator('a.row', { hasText: 'a heron' });
    await row.getByText('Unread', { exact: true }).waitFor();
    await row.click();
    await page.locator('.said-assistant').first().waitFor();
    await row.waitFor({ state: 'detached' });
    expect((await sessions.get(key)).unread).toBe(false);
    await page.getByRole('button', { name: 'Mark as unread' }).click();
    await row.getByText('Unread', { exact: true }).waitFor();
    expect((await sessions.get(key)).unread).toBe(true);
    await page.getByLabel('Unread only').uncheck();
    await page.locator('a.row', { hasText: 'Pinned' }).first().waitFor();
    // What comes while it is open is never shown as unread, not even until the gateway knows that it was seen.
    await page.route(/\/read$/, () => {});
    await sessions.post(key, 'an egret', { wait: 30 });
    await page.locator('a.row-open', { hasText: 'an egret' }).waitFor();
    expect((await sessions.get(key)).unread).toBe(true);
    expect(await page.locator('a.row-open').getByText('Unread', { exact: true }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a page of rows that nobody wants any more is no problem', async () => {
    const { page, faults } = await open();
    const [session] = (await rig().client.get<SessionPage>('/v1/sessions', { query: { limit: 1 } })).sessions;
    const rowOf = (name: string) => ({ ...session, key: `agent:main:${name}`, settings: { displayName: name } });
    let answer = (): void => {};
    const isChecked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/v1\/sessions\?/, async (asked) => {
      const { searchParams } = new URL(asked.request().url());
      if (searchParams.has('cursor')) return;
      const q = searchParams.get('q');
      if (q !== null) await isChecked;
      await asked.fulfill({ json: { sessions: [rowOf(q ?? 'first')], nextCursor: q === null ? 'more' : null } });
    });
    const asked = page.waitForRequest(/cursor=more/);
    await page.getByLabel('Status').selectOption('idle');
    await asked;
    const dropped = page.waitForEvent('requestfailed');
    await page.getByLabel('Search sessions').fill('second');
    await dropped;
    await page
      .locator('html')
      .evaluate((html) => new Promise((resolve) => html.ownerDocument.defaultView?.requestAnimationFrame(resolve)));
    expect(await page.getByRole('alert').count()).toBe(0);
    answer();
    await page.locator('a.row', { hasText: 'second' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('what people and models write is text: no element, no request, no report', async () => {
    const { page, faults } = await open();
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    await goTo(page, place(hostile, 'chat'));
    await page.getByText('<b onclick=alert(1)>Eve</b>').waitFor();
    const answer = page.locator('.said-assistant .prose');
    await answer.getByText('bold').waitFor();
    expect(await answer.locator('img, script, [onerror], a[href^="javascript"]').count()).toBe(0);
    expect(await answer.textContent()).toContain('https://evil.example/?q');
    expect(faults).toEqual([]);
  });

  test('what a model thought is folded above its answer, as text', async () => {
    const key = 'agent:main:web:thoughtful';
    await rig().client.sessions.post(key, '[[reason]] <img src=x onerror=alert(2)>', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key, 'chat'));
    const summary = page.locator('summary', { hasText: 'Reasoning' });
    const thought = page.getByText('I was asked: <img src=x onerror=alert(2)>');
    await summary.waitFor();
    expect(await thought.isVisible()).toBe(false);
    await summary.press('Enter');
    await thought.waitFor();
    await page.reload();
    await summary.waitFor();
    expect(faults).toEqual([]);
  });

  test('a screen reader hears an answer without its marks, and nothing of one that says nothing', async () => {
    const key = 'agent:main:web:heard';
    await rig().client.sessions.post(key, 'hello', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key, 'chat'));
    await page.locator('.said-assistant').waitFor();
    for (const text of ['[[silent]] hush', '**tea** at `five`', '[[fail busy]]'])
      await rig().client.sessions.post(key, text, { wait: 30 });
    const heard = page.getByRole('log').locator('p');
    await heard.filter({ hasText: 'asked the offline model to fail' }).waitFor();
    expect(await heard.allTextContents()).toEqual([
      'You said: tea at five',
      expect.stringContaining('asked the offline model to fail'),
    ]);
    expect(faults).toEqual([]);
  });

  test('a block of code is copied, and a wide table keeps its columns and scrolls by itself', async () => {
    const key = 'agent:main:web:code';
    const word = 'Donaudampfschiffahrtsgesellschaft';
    const text = `see\n\n| ${word} | b | c |\n|:--|:-:|--:|\n| ${word} | ${word} | ${word} |\n\n\`\`\`sh\nnpm test\nnpm start\n\`\`\``;
    await rig().client.sessions.post(key, text, { wait: 30 });
    const { page, faults } = await open(390);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await goTo(page, place(key, 'chat'));
    const prose = page.locator('.said-assistant .prose');
    await prose.locator('tbody').waitFor();
    const alignments = prose.locator('tbody td').evaluateAll((all) => all.map((one) => getComputedStyle(one).textAlign));
    expect((await alignments).map((each) => each.replace('-webkit-', ''))).toEqual(['left', 'center', 'right']);
    const isWider = await prose.locator('table').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    expect(isWider).toBe(true);
    const code = prose.locator('.code');
    const before = await code.boundingBox();
    await page.getByRole('button', { name: 'Copy this code' }).press('Enter');
    await code.getByText('Copied').waitFor();
    await page.getByRole('log').getByText('Copied').waitFor();
    expect(await code.boundingBox()).toEqual(before);
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('npm test\nnpm start');
    expect(await wrongIn(page, place(key, 'chat'), '.code')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test.each([320, 390, 1280])('the head of a session is whole, however much it says: %d px', async (width) => {
    const key = 'agent:main:web:a-session-with-a-long-key-of-its-own';
    const { sessions } = rig().client;
    await sessions.post(key, 'one', { wait: 30 });
    await sessions.fork(key, { at: (await sessions.get(key)).seq });
    await sessions.post(key, '[[size 4000]] two', { wait: 30 });
    await sessions.post(key, '[[fail busy]] three', { wait: 30 });
    await sessions.patch(key, { model: 'gone/model' });
    const { page, faults } = await open(width);
    await goTo(page, place(key, 'chat'));
    if (width < 760) await page.getByRole('button', { name: 'Details' }).click();
    await page.getByText('model: gone/model, set by /model').waitFor();
    await page.locator('.session-head .badge-fail').waitFor();
    const cut = await page
      .locator('html, .session-head, .session-bar, .session-facts, .session-facts > *, .why > *')
      .evaluateAll((all) =>
        all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth && clientWidth > 0).map((one) => one.textContent),
      );
    expect(cut).toEqual([]);
    const edge = await page
      .locator('.session-facts > *')
      .evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().right)));
    expect(edge).toBeLessThanOrEqual(width);
    const { scrollWidth, innerWidth } = await page.evaluate(() => {
      const { document, innerWidth } = globalThis as unknown as {
        readonly document: { readonly documentElement: { readonly scrollWidth: number } };
        readonly innerWidth: number;
      };
      return { scrollWidth: document.documentElement.scrollWidth, innerWidth };
    });
    expect(scrollWidth).toBeLessThanOrEqual(innerWidth);
    expect(faults).toEqual([]);
  });

  /** The sequence of the commit in which the answer of the main session failed. */
  const failedAt = async (): Promise<number | undefined> => {
    for await (const { seq, events } of rig().client.sessions.export(main))
      if (events.some(({ type }) => type === 'turn_failed')) return seq;
    return undefined;
  };
  test.each([
    ['light', 1920],
    ['dark', 320],
    ['light', 320],
    ['dark', 1920],
  ] as const)('axe finds nothing wrong, and nothing is cut off: %s, %d px', async (scheme, width) => {
    const { page, faults } = await open(width, scheme);
    const views: readonly (readonly [string, string])[] = [
      ['#/sessions', 'a.row'],
      [place(main, 'chat'), '.said'],
      [place(main, 'transcript'), '.line'],
      [place(main, 'time'), '.same-same'],
      [`${place(main, 'time')}?at=${await failedAt()}`, '.moment-error .button'],
      [`${place(forked, 'time')}?compare=1`, '.branches'],
      [`#/sessions?q=${encodeURIComponent('fresh start')}`, '.found li'],
      ['#/approvals', '.approvals .empty, .approvals .approval'],
      ['#/account', '.facts'],
    ];
    const wrong: string[] = [];
    for (const view of views) wrong.push(...(await wrongIn(page, ...view)));
    expect(wrong).toEqual([]);
    expect(faults).toEqual([]);
  });
});
