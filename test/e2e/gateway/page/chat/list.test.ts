import { describe, expect, test, vi } from 'vitest';
import { axeFindings } from '../browser.ts';
import { goTo, hasBrowser, usePage } from '../use-page.ts';

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string, tab = 'chat'): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

describe.skipIf(!hasBrowser)('the list of sessions and the keys', () => {
  const [robin, wren, asking, alsoAsking] = ['robin', 'wren', 'asking', 'also-asking'].map((name) => `agent:main:${name}`) as [
    string,
    string,
    string,
    string,
  ];
  const { rig, open } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await Promise.all(Array.from({ length: 8 }, (_, at) => sessions.append(`agent:main:other-${at}`, 'hello')));
    for (const key of [robin, wren]) await sessions.post(key, 'a bird', { wait: 30 });
    await sessions.patch(robin, { labels: ['garden'] });
    for (const key of [asking, alsoAsking]) await sessions.post(key, '[[tool exec {"command": ["true"]}]] please', {});
  });

  test.each([1_280, 390])('shows the beginning of what somebody has written in a session and not sent: %d px', async (width) => {
    const { page, faults } = await open(width);
    const row = page.locator('a.row', { hasText: 'robin' });
    await goTo(page, place(robin));
    await page.locator('.composer textarea').fill('what is left\nto say');
    // Beside its field it is not said again.
    await goTo(page, place(wren));
    await row.getByText('Draft: what is left to say').waitFor({ state: 'attached' });
    await goTo(page, '#/sessions');
    await row.getByText('Draft: what is left to say').waitFor();
    expect(await row.getByText('a bird').count()).toBe(0);
    expect(await page.getByText('Draft:').count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
    await page.reload();
    await row.getByText('Draft:').waitFor();
    await goTo(page, place(robin));
    expect(await row.getByText('Draft:').count()).toBe(0);
    await page.locator('.composer textarea').fill(' ');
    await goTo(page, '#/sessions');
    await row.waitFor();
    expect(await page.getByText('Draft:').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('leaves room for the rows on the smallest screen while some are selected', async () => {
    const { page, faults } = await open(320);
    await page.setViewportSize({ width: 320, height: 568 });
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await page.locator('.bulk').waitFor();
    const { y = 0, height = 0 } = (await page.locator('.rows').boundingBox()) ?? {};
    expect(height).toBeGreaterThan(3 * 80);
    expect(y + height).toBeLessThanOrEqual(568);
    await page.locator('a.row', { hasText: 'wren' }).click();
    await page.getByText('1 session selected').waitFor();
    await page.getByRole('button', { name: 'Labels…' }).click();
    await page.getByLabel('Labels, with commas between them').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('groups the sessions by label, from the keyboard and by the address', async () => {
    const { page, faults } = await open();
    const { sessions } = rig().client;
    await sessions.patch(wren, { labels: ['aviary', 'garden'] });
    await page.locator('a.row', { hasText: 'aviary' }).waitFor();
    await page.getByRole('checkbox', { name: 'Group by label' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('heading', { name: 'No label' }).waitFor();
    expect(page.url()).toContain('group=label');
    const items = page.locator('.rows li :is(h2, .row-title)');
    const first = async () => (await items.allTextContents()).slice(0, 6);
    expect(await first()).toEqual(['aviary', 'wren', 'garden', 'wren', 'robin', 'No label']);
    expect(await page.locator('.row-group span').allTextContents()).toEqual(['1 session', '2 sessions', '10 sessions']);
    expect(await axeFindings(page)).toEqual([]);
    // The keys go through the sessions as they stand, and the choice stays.
    await page.locator('.row-group').first().click();
    for (const name of ['wren', 'robin']) {
      await page.keyboard.press('j');
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    expect(page.url()).toContain('group=label');
    await page.reload();
    await page.getByRole('heading', { name: 'aviary' }).waitFor();
    await sessions.patch(wren, { labels: null });
    await page.getByRole('heading', { name: 'aviary' }).waitFor({ state: 'detached' });
    expect(await first()).toEqual(['garden', 'robin', 'No label', ...(await first()).slice(3)]);
    expect(faults).toEqual([]);
  });

  test('says of which sessions the groups are while there are more', async () => {
    const { page, faults } = await open();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/v1\/sessions\?limit=200/, async (asked) => {
      const url = asked.request().url();
      if (url.includes('cursor=')) await held;
      await asked.continue({ url: url.replace('limit=200', 'limit=5') });
    });
    await goTo(page, '#/sessions?group=label');
    await page.reload();
    await page.getByText('Grouped are the first 5 sessions; at the end of the list come more.').waitFor();
    release();
    await page.locator('.row-group', { hasText: '11 sessions' }).waitFor();
    await page.getByText('Grouped are the first', { exact: false }).waitFor({ state: 'detached' });
    // Without groups the list goes on too.
    await page.getByRole('checkbox', { name: 'Group by label' }).uncheck();
    await page.reload();
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await page.getByRole('button', { name: 'Select all 12 shown' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(faults).toEqual([]);
  });

  test('leads by keys to the views of the open session and to a new chat, and none of them while somebody writes', async () => {
    const { page, faults } = await open();
    const { keyboard } = page;
    await goTo(page, '#/account');
    await page.getByRole('heading', { level: 1, name: 'You' }).waitFor();
    await keyboard.press('g');
    await keyboard.press('t');
    expect(page.url()).toMatch(/#\/account$/);
    await goTo(page, place(robin));
    await page.locator('.said').first().waitFor();
    for (const [key, name, shown] of [
      ['t', 'Transcript', '.line'],
      ['m', 'Time machine', '.moment'],
      ['c', 'Chat', '.said'],
    ] as const) {
      await keyboard.press('g');
      await keyboard.press(key);
      await page.locator(shown).first().waitFor();
      await page.locator('.tabs a[aria-current]:focus', { hasText: name }).waitFor();
    }
    await page.locator('.composer textarea').focus();
    await keyboard.type('c');
    expect(page.url()).toContain(place(robin));
    await keyboard.press('Backspace');
    await keyboard.press('Escape');
    await keyboard.press('c');
    await page.getByRole('heading', { name: 'New chat' }).waitFor();
    await page.locator('.composer textarea:focus').waitFor();
    expect(faults).toEqual([]);
  });

  test('answers by keys the approval that has the focus, and no other', async () => {
    const { page, faults } = await open();
    const { keyboard } = page;
    const { sessions } = rig().client;
    await goTo(page, '#/approvals');
    const cards = page.locator('.approval');
    await vi.waitFor(async () => expect(await cards.count()).toBe(2), soon);
    const press = async (keys: string): Promise<void> => {
      for (const key of keys) await keyboard.press(key);
    };
    // The keys that lead here put the focus on the first, and so do those that answer while it is elsewhere.
    await press('ga');
    await page.locator('li:first-child > .approval:focus').waitFor();
    for (const keys of ['yy', 'nn', 'nr']) {
      await page.locator('#main').focus();
      await press(keys);
      await page.locator('li:first-child > .approval:focus').waitFor();
      await page
        .getByText('The first approval that waits has the focus. The same keys answer it.')
        .first()
        .waitFor({ state: 'attached' });
    }
    await page.locator('#main').focus();
    await keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'A view, a session by its name, or what was said' }).waitFor();
    await keyboard.type('approvals');
    await page.getByRole('option', { name: 'Approvals', selected: true }).waitFor();
    await keyboard.press('Enter');
    await page.locator('li:first-child > .approval:focus').waitFor();
    await press('nr');
    await page.locator('.approval input:focus').waitFor();
    await keyboard.press('Escape');
    await cards.last().getByText('Deny with a reason…').focus();
    await keyboard.press('y');
    await keyboard.press('x');
    await keyboard.press('y');
    expect((await sessions.get(asking)).status).toBe('awaiting_approval');
    expect((await sessions.get(alsoAsking)).status).toBe('awaiting_approval');
    await keyboard.press('x');
    await cards.first().locator('header strong').click();
    await keyboard.press('n');
    await keyboard.press('n');
    await cards.first().locator('.approval-answer', { hasText: 'denied' }).waitFor();
    // From one that was answered they lead to the next.
    await press('yy');
    await page.locator('li:last-child > .approval:focus').waitFor();
    await press('yy');
    await cards.last().locator('.approval-answer', { hasText: 'allowed' }).waitFor();
    expect(faults).toEqual([]);
  });
});
