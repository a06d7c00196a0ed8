import { describe, expect, test } from 'vitest';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** What the page calls a session, and what it quotes of it. */

const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

describe.skipIf(!hasBrowser)('who meets a session on the page', () => {
  const named = 'agent:main:web:named';
  const forked = 'agent:main:forked';
  const asking = 'agent:main:web:asking';
  const long = 'agent:main:web:long';
  const { rig, open, openTab } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(named, 'the plan: **sow** the `beans` and _water_ them', { wait: 30 });
    await sessions.patch(named, { displayName: 'Garden' });
    await sessions.post(forked, 'the first words', { wait: 30 });
    const { seq } = await sessions.get(forked);
    await sessions.post(forked, 'the last words', { wait: 30 });
    await sessions.fork(forked, { at: seq });
    await sessions.post(long, 'when to water', { wait: 30 });
    await sessions.patch(long, { displayName: 'Tomatoes of the house', pinned: true, labels: ['travel'] });
    await sessions.append(asking, 'a secret');
    await sessions.patch(asking, { displayName: 'Harvest' });
    await sessions.post(asking, '[[tool exec {"command": ["true"]}]] please', {});
  });

  test('reads its name in the tab and above it, and no key before the name is known', async () => {
    const { page, faults } = await open();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/v1\/sessions/, async (asked) => {
      await held;
      await asked.continue();
    });
    await goTo(page, place(named, 'chat'));
    await page.reload();
    await page.getByRole('heading', { name: 'Session', exact: true }).waitFor();
    expect(await page.title()).toBe('Session · Natter');
    release();
    await page.getByRole('heading', { name: 'Garden', exact: true }).waitFor();
    expect(await page.title()).toBe('Garden · Natter');
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.locator('.live-on').waitFor();
    expect(await page.title()).toBe('Garden · Natter');
    await goTo(page, '#/events');
    await page.locator('.event-row').first().waitFor();
    expect(await page.title()).toBe('Events · Natter');
    // A call may still be on its way through the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults).toEqual([]);
  });

  test('reads as much of a name as there is room for, and all of it in the title', async () => {
    const { page, faults } = await open();
    const isCut = (selector: string) =>
      page
        .locator(selector, { hasText: 'Tomatoes of the house' })
        .first()
        .evaluate((name) => name.scrollWidth > name.clientWidth);
    const row = page.locator('a.row', { hasText: 'Tomatoes' });
    for (const word of ['Unread', 'Pinned']) await row.getByText(word, { exact: true }).waitFor();
    expect(await isCut('.row-title')).toBe(false);
    expect(await row.locator('.row-title').getAttribute('title')).toBe('Tomatoes of the house');
    await goTo(page, place(long, 'time'));
    await page.locator('.live-on').waitFor();
    expect(await page.getByRole('heading', { level: 1, name: 'Tomatoes' }).getAttribute('title')).toBe('Tomatoes of the house');
    await page.setViewportSize({ width: 1920, height: 800 });
    await goTo(page, '#/events');
    await page.locator('.event-key', { hasText: 'Tomatoes' }).first().waitFor();
    expect(await isCut('.event-key')).toBe(false);
    expect(await page.locator('.event-key', { hasText: 'Tomatoes' }).first().getAttribute('title')).toBe(
      `Tomatoes of the house (${long})`,
    );
    expect(faults).toEqual([]);
  });

  test('reads its former name after a reset, until something new is said; a given name stays', async () => {
    const { sessions } = rig().client;
    const trip = 'agent:main:web:trip';
    await sessions.post(trip, 'A trip to Rome', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(trip, 'chat'));
    const called = (name: string) =>
      Promise.all([
        page.getByRole('heading', { name, exact: true }).waitFor(),
        page.locator('a.row .row-title', { hasText: name }).waitFor(),
      ]);
    await called('A trip to Rome');
    await page.getByLabel('Message', { exact: true }).fill('/new');
    await page.keyboard.press('Enter');
    await page.locator('.mark', { hasText: 'Reset by you' }).waitFor();
    await page.locator('a.row', { hasText: /A trip to Rome[\s\S]*Reset with \/new, / }).waitFor();
    await called('A trip to Rome');
    await page.getByLabel('Message', { exact: true }).fill('A week in Bergen');
    await page.keyboard.press('Enter');
    await called('A week in Bergen');
    await sessions.patch(trip, { displayName: 'Fjords' });
    await sessions.reset(trip, { reason: 'tidying up' });
    await page.locator('.mark', { hasText: 'tidying up' }).waitFor();
    await sessions.post(trip, 'and Oslo', { wait: 30 });
    await called('Fjords');
    expect(faults).toEqual([]);
  });

  test('reads in the list that nothing was said since a fork', async () => {
    const { page, faults } = await open();
    const row = page.locator('a.row', { hasText: 'forked' });
    await row.getByText('Nothing said since the fork').waitFor();
    await row.getByText(/^Forked from commit \d+, /).waitFor();
    expect(faults).toEqual([]);
  });

  test('asks once for the name of a session that was deleted, and not at all where the page has seen it go', async () => {
    const { client } = rig();
    const [gone, going] = ['agent:main:gone', 'agent:main:going'] as const;
    for (const key of [gone, going]) {
      await client.sessions.append(key, 'soon to go');
      await client.post('/v1/tokens', { role: 'viewer', sessionKey: key });
    }
    await client.sessions.patch(going, { displayName: 'Farewell' });
    await client.sessions.delete(gone);
    const { page, faults } = await open();
    const missed: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 404) missed.push(decodeURIComponent(response.url().replace(/.*\//, '')));
    });
    const links = page.getByRole('region', { name: 'Shared links' });
    const seesBoth = async (name: string): Promise<void> => {
      await goTo(page, '#/system/access');
      for (const each of ['gone', name]) await links.getByRole('link', { name: each, exact: true }).waitFor();
    };
    await seesBoth('Farewell');
    await client.sessions.delete(going);
    await seesBoth('going');
    await goTo(page, '#/events');
    await page.locator('.event-row').first().waitFor();
    await seesBoth('going');
    expect(missed).toEqual([gone]);
    expect(faults).toEqual([]);
  });

  test('reads Markdown without its marks in the list and among the messages found', async () => {
    await rig().client.sessions.append(named, '## Plan\n\n**sow** the `beans`, _then_ rest');
    const { page, faults } = await open();
    await page.locator('a.row', { hasText: 'Garden' }).getByText('Plan sow the beans, then rest').waitFor();
    await page.getByLabel('Search sessions').fill('beans');
    await page.locator('.found-text', { hasText: /Plan\s+sow the beans, then rest/ }).waitFor();
    expect(await page.locator('.found-text').allTextContents()).not.toContainEqual(expect.stringMatching(/[*`#_]/));
    expect(faults).toEqual([]);
  });

  test('reads its given name where approvals are all that may be seen, and nothing that was said', async () => {
    const { code } = await rig().client.post<{ code: string }>('/v1/page/codes', { role: 'approver' });
    const { page, faults } = await openTab();
    await page.goto(`${rig().url}/#code=${code}`);
    const card = page.getByRole('article', { name: /^Approval: / });
    await card.locator('dd', { hasText: /^Harvest$/ }).waitFor();
    expect(await card.getByText('web:asking').count()).toBe(0);
    // It leads to itself, and nowhere where an approver may not go.
    expect(await card.getByRole('link').allTextContents()).toEqual(['Link']);
    expect(await page.getByText('a secret').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('asks for approvals when an event tells of one, and seldom else', async () => {
    const { page, faults } = await openTab();
    await page.clock.install();
    let asked = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/v1/approvals') asked += 1;
    });
    await page.goto(await rig().link());
    await page.getByRole('link', { name: /Approvals 1 waiting/ }).waitFor();
    await page.clock.runFor(16_000);
    const before = asked;
    await page.clock.runFor(20_000);
    await page.locator('a.row').first().waitFor();
    expect(asked).toBe(before);
    await rig().client.sessions.post('agent:main:web:other', '[[tool exec {"command": ["false"]}]] please', {});
    await page.getByRole('link', { name: /Approvals 2 waiting/ }).waitFor();
    expect(faults).toEqual([]);
  });
});
