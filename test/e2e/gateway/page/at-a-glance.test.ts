import { describe, expect, test, vi } from 'vitest';
import type { Session } from '../../../../shared/client/main.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** What the page must say where somebody looks first, and in words that everybody knows. */

const soon = { timeout: 30_000, interval: 50 };
/** What is read of an element that scrolls: the project is compiled without the types of the DOM. */
type Scrolled = Readonly<Record<'scrollHeight' | 'scrollTop' | 'clientHeight', number>>;

const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

describe.skipIf(!hasBrowser)('who looks at the page for a moment', () => {
  const asking = 'agent:main:asking';
  const failing = 'agent:main:failing';
  const forked = 'agent:main:forked';
  const small = { kind: 'anthropic', apiKeyEnv: 'NO_SUCH_KEY', models: ['small-1', 'large-1'] };
  const settings = {
    tools: { exec: { enabled: true } },
    model: { providers: { local: small }, aliases: { fast: 'local/small-1' } },
  };
  const { rig, open, openTab } = usePage(settings, async ({ client: { sessions } }) => {
    await sessions.post(failing, '[[fail busy]] now', { wait: 30 });
    let middle = 0;
    for (let count = 0; count < 12; count++) {
      await sessions.post(forked, `question ${count}`, { wait: 30 });
      if (count === 4) middle = (await sessions.get(forked)).seq;
    }
    await sessions.fork(forked, { at: middle });
    await sessions.post(asking, '[[tool exec {"command": ["true"]}]] please', {});
  });

  test('sees what needs a person above the list, and that an answer failed, in words, in the list, the head and the moment', async () => {
    const { page, faults } = await open();
    const needs = page.getByRole('navigation', { name: 'Needs you' });
    await needs.getByRole('link', { name: 'Awaiting approval 1' }).waitFor();
    await needs.getByRole('link', { name: 'Last answer failed 1' }).click();
    await vi.waitFor(async () => expect(await page.locator('a.row').count()).toBe(1), soon);
    const row = page.locator('a.row', { hasText: 'failing' });
    expect(await row.locator('.dot').textContent()).toBe('Last answer failed');
    expect(await needs.count()).toBe(0);
    await row.click();
    await page.locator('.session-head .badge-fail', { hasText: 'Last answer failed' }).waitFor();
    expect(await page.locator('.session-head', { hasText: 'Idle' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.locator('.moment-facts .badge-fail').waitFor();
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.locator('.moment-facts').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('sees in amber what waits for a person, and neither forks nor failures', async () => {
    const { page, faults } = await open();
    const styleOf = (selector: string, property: 'color' | 'backgroundColor'): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((element, name) => {
          const { getComputedStyle } = element.ownerDocument.defaultView as unknown as {
            getComputedStyle(of: unknown): Record<typeof name, string>;
          };
          return getComputedStyle(element)[name];
        }, property);
    const colourOf = (name: string, selector: string) => styleOf(`a.row:has-text("${name}") ${selector}`, 'color');
    const amber = await styleOf('.count', 'backgroundColor');
    expect(await colourOf('asking', '.row-why')).toBe(amber);
    expect(await colourOf('failing', '.row-why')).not.toBe(amber);
    expect(await colourOf('forked', '.row-why')).toBe(await colourOf('forked', '.row-text:not(.row-why)'));
    expect(await wrongIn(page, '#/sessions', '.row-why')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('finds the tabs in one place, however much the head says: %s, %d px', async (scheme, width) => {
    const { page, faults } = await open(width, scheme);
    let rule = 'short';
    await page.route(`**/v1/sessions/${encodeURIComponent(forked)}`, async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as Session;
      const displayName = `Name ${rule}`.slice(0, 200);
      await route.fulfill({ response, json: { ...session, settings: { ...session.settings, displayName, model: rule } } });
    });
    const tabs = page.locator('.tabs');
    const tops = new Set<number | undefined>();
    for (const words of ['short', 'wide '.repeat(60)]) {
      rule = words;
      await goTo(page, place(forked, 'chat'));
      await page.getByRole('heading', { name: `Name ${words}`.slice(0, 20) }).waitFor();
      tops.add((await tabs.boundingBox())?.y);
      await goTo(page, '#/account');
      await page.locator('.themes').waitFor();
    }
    expect(tops.size).toBe(1);
    // A call may still be on its way through the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(faults).toEqual([]);
  });

  test('has most of a small screen for the conversation, and the details of the session behind one button', async () => {
    const { page, faults } = await open(390, 'dark');
    await goTo(page, place(forked, 'chat'));
    await page.getByRole('heading', { name: 'forked' }).waitFor();
    const head = await page.locator('.session-head').boundingBox();
    expect(head?.height).toBeLessThan(800 / 8);
    expect(await page.getByRole('button', { name: 'Rename' }).isVisible()).toBe(false);
    const details = page.getByRole('button', { name: 'Details' });
    await details.click();
    await page.getByRole('button', { name: 'Rename' }).waitFor();
    expect(await details.getAttribute('aria-expanded')).toBe('true');
    const hidden = () => page.locator('.messages').evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
    await vi.waitFor(async () => expect(await hidden()).toBeLessThan(2), soon);
    expect(await wrongIn(page, place(forked, 'chat'), '.session-actions button')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test.each([
    [1280, 800 / 3],
    [390, 800 / 2],
  ])('reads what the session was at a moment high up on the screen: %d px', async (width, most) => {
    const { page, faults } = await open(width);
    for (const key of [forked, failing]) {
      await goTo(page, place(key, 'time'));
      await page.locator('.live-on').waitFor();
      const moment = await page.getByRole('region', { name: 'The session after this commit' }).boundingBox();
      expect(moment?.y).toBeLessThan(most);
      await page.getByText('A commit is one recorded change.', { exact: false }).waitFor();
      const details = page.getByRole('button', { name: 'Details' });
      await details.click();
      await page.getByRole('button', { name: 'Rename' }).waitFor();
      await details.click();
    }
    expect(faults).toEqual([]);
  });

  test.each([
    [1280, 800],
    [390, 844],
    [320, 568],
  ])('sees before an error, without scrolling, how to fork and what the agent knew: %d × %d', async (width, height) => {
    const { sessions } = rig().client;
    const key = `agent:main:broken-${width}`;
    for (const text of ['where does it grow?', '[[fail busy]] and when?']) await sessions.post(key, text, { wait: 30 });
    const { page, faults } = await open(width);
    await page.setViewportSize({ width, height });
    await goTo(page, place(key, 'chat'));
    await page.getByRole('link', { name: 'Show the moment before' }).click();
    await page.getByText('This page and the gateway agree on this commit').waitFor();
    const rail = await page.locator('.rail').boundingBox();
    const bottom = width < 620 ? (rail?.y ?? 0) : height;
    const fork = await page.getByRole('button', { name: 'Fork from here' }).boundingBox();
    const known = await page.getByRole('heading', { name: 'What the agent knew of the conversation' }).boundingBox();
    expect((fork?.y ?? height) + (fork?.height ?? height)).toBeLessThanOrEqual(bottom);
    expect((fork?.x ?? width) + (fork?.width ?? width)).toBeLessThanOrEqual(width);
    // The smallest telephone has no room for both.
    if (width > 320) expect((known?.y ?? height) + (known?.height ?? height)).toBeLessThanOrEqual(bottom);
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('opens a chat of long messages at its end, also again and after a reload, and leaves it only by scrolling back', async () => {
    const key = 'agent:main:long';
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
      await rig().client.sessions.append(key, `${name}\n${'a line of many\n'.repeat(60)}`);
    const { page, faults } = await open();
    const messages = page.locator('.messages');
    const toEnd = () =>
      messages.evaluate(({ scrollHeight, scrollTop, clientHeight }: Scrolled) => scrollHeight - scrollTop - clientHeight);
    const isAtEnd = async (): Promise<void> => {
      await page.locator('.said-user', { hasText: 'six' }).waitFor();
      await vi.waitFor(async () => expect(await toEnd()).toBeLessThan(5), soon);
      expect(await page.getByRole('button', { name: 'To the newest' }).count()).toBe(0);
    };
    for (let time = 0; time < 3; time++) {
      await goTo(page, place(key, 'chat'));
      await isAtEnd();
      await page.reload();
      await isAtEnd();
      await goTo(page, '#/account');
      await page.locator('.themes').waitFor();
    }
    await goTo(page, place(key, 'chat'));
    await isAtEnd();
    await messages.hover();
    await page.mouse.wheel(0, -700);
    await page.getByRole('button', { name: 'To the newest' }).waitFor();
    expect(await toEnd()).toBeGreaterThan(300);
    expect(faults).toEqual([]);
  });

  test.each([
    [390, 844],
    [320, 568],
  ])('sees what the session was right after a jump on a telephone, where one thing scrolls: %d × %d', async (width, height) => {
    const { page, faults } = await open(width);
    await page.setViewportSize({ width, height });
    await goTo(page, place(failing, 'time'));
    await page.locator('.live-on').waitFor();
    const tabBar = await page.locator('.rail').boundingBox();
    const facts = page.getByRole('region', { name: /^The session (after this|before its first) commit$/ });
    const isInSight = async (): Promise<void> => {
      const [box, past] = await Promise.all([facts.boundingBox(), page.locator('.past').boundingBox()]);
      expect(box?.y).toBeGreaterThanOrEqual(past?.y ?? 0);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(tabBar?.y ?? 0);
    };
    await isInSight();
    // What leads from error to error makes way for that where the screen is low, and nothing moves aside for what plays.
    const on = page.getByRole('button', { name: 'One commit on' });
    const before = await on.boundingBox();
    await page.getByRole('button', { name: 'Play' }).click();
    expect(await on.boundingBox()).toEqual(before);
    await page.getByRole('button', { name: 'To the newest' }).click();
    const jump = page.getByRole('button', { name: 'Previous error' });
    if (height < 700) {
      expect((await page.locator('.scrubber').boundingBox())?.height).toBeLessThan(170);
      expect(await jump.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Jump to' }).click();
    }
    await jump.waitFor();
    if (height < 700) await page.getByRole('button', { name: 'Jump to' }).click();
    for (const name of ['Show the commit before', 'To the newest', 'One commit back', 'To the newest']) {
      if (name === 'One commit back') await page.locator('.past').evaluate((view) => view.scrollTo(0, view.scrollHeight));
      await page.getByRole('button', { name }).press('Enter');
      await vi.waitFor(isInSight, soon);
    }
    const scrolls = page.locator('.past, .past *').evaluateAll((all) =>
      all
        .filter((one) => one.scrollHeight > one.clientHeight + 1 && one.clientHeight > 0)
        .filter((one) => {
          const { getComputedStyle: styleOf } = globalThis as never as { getComputedStyle(of: unknown): { overflowY: string } };
          return ['auto', 'scroll'].includes(styleOf(one).overflowY);
        })
        .map(({ className }) => `${className}`.trim()),
    );
    expect(await scrolls).toEqual(['past']);
    // The list has the place of the moment until a commit is chosen in it, from which a person reads on.
    await page.getByRole('button', { name: 'All commits' }).click();
    await page.locator('.commit-chosen').waitFor();
    expect(await facts.isVisible()).toBe(false);
    expect(await page.locator('.commits').evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThanOrEqual(4 * 44);
    expect(await axeFindings(page)).toEqual([]);
    await page.locator('.commit-chosen').press('ArrowUp');
    await page.locator('.commit-chosen:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.moment:focus').waitFor();
    await isInSight();
    expect(await wrongIn(page, place(failing, 'time'), '.moment-facts')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a high narrow screen has both the moment and a list of useful height', async () => {
    const { page, faults } = await open(820);
    await page.setViewportSize({ width: 820, height: 1180 });
    await goTo(page, place(failing, 'time'));
    await page.locator('.moment-facts').waitFor();
    expect(await page.locator('.commits').evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThanOrEqual(7 * 44);
    // Rows are as high as the places that they have.
    expect((await page.locator('.commit').first().boundingBox())?.height).toBe(44);
    expect(await page.getByRole('button', { name: 'All commits' }).isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  test('reads what the agent knows after a fork: before it, in the head, and in the chat', async () => {
    const { page, faults } = await open();
    await goTo(page, place(forked, 'chat'));
    await page.locator('.why', { hasText: 'Forked from commit 5' }).waitFor();
    const known = page.locator('.why').getByTitle('The agent knows the conversation up to there, and what was said since');
    await known.getByText(/^Forked from commit 5 by the owner, over the API, /).waitFor();
    await page
      .locator('.mark', {
        hasText: /^Forked from commit 5 by the owner, over the API: the agent knows the conversation up to there/,
      })
      .waitFor();
    await goTo(page, place(failing, 'time'));
    await page.getByRole('button', { name: 'Fork with the error' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^This session goes on from commit \d+/)
      .waitFor();
    await goTo(page, place(forked, 'transcript'));
    await page.locator('.line', { hasText: 'question 1' }).first().waitFor();
    expect(await page.locator('.line-left').count()).toBe(0);
    await page.getByLabel('Events', { exact: true }).evaluate((lines) => lines.scrollTo(0, lines.scrollHeight));
    const left = page.locator('.line-left', { hasText: 'question 11' }).first();
    await left.getByText(/^Left behind by the fork at .*question 11$/).waitFor();
    expect(await page.locator('.line-fork').getByText('Left behind').count()).toBe(0);
    // Among the events of one session, and at any event that is opened.
    await goTo(page, `#/events?type=talk&key=${encodeURIComponent(forked)}`);
    await page
      .locator('.event-row', { hasText: /Left behind .*question 11/ })
      .first()
      .click();
    await page.locator('.event-detail', { hasText: 'The fork left this commit behind' }).waitFor();
    const kept = page.locator('.event-row', { hasText: 'question 4' });
    await kept.first().waitFor();
    expect(await kept.filter({ hasText: 'Left behind' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('is offered the models of the configuration after /model, and completes one with the Tab key', async () => {
    const { page, faults } = await open();
    await goTo(page, place(failing, 'chat'));
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('/model ');
    const offered = page.locator('#completions code');
    await vi.waitFor(async () => {
      expect(await offered.allTextContents()).toEqual(['fast', 'offline', 'local/small-1', 'local/large-1']);
    }, soon);
    await field.fill('/model large');
    await vi.waitFor(async () => expect(await offered.allTextContents()).toEqual(['local/large-1']), soon);
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe('/model local/large-1');
    await field.fill('/model local/small-1');
    await vi.waitFor(async () => expect(await offered.count()).toBe(0), soon);
    await field.fill('');
    expect(faults).toEqual([]);
  });

  test('who may only approve finds nothing to approve, and nothing that leads to where they may not go', async () => {
    const { code } = await rig().client.post<{ code: string }>('/v1/page/codes', { role: 'approver' });
    const { page, faults } = await openTab(390, 'dark');
    await page.goto(`${rig().url}/#code=${code}`);
    const deny = page.getByRole('button', { name: 'Deny', exact: true });
    await deny.click();
    await page.locator('.approval-answer', { hasText: 'Denied' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Nothing to approve' }).waitFor();
    expect(await page.locator('.empty a').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await wrongIn(page, '#/approvals', '.empty')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('still reads who asked, on which message, and where a call ran once it is answered', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/approvals');
    const lately = page.getByRole('region', { name: 'Recent approvals' });
    await lately
      .getByText(/^Denied/)
      .first()
      .waitFor();
    await lately.locator('dd', { hasText: /Owner, over the API, .*“.*please”/ }).waitFor();
    await lately.locator('dd', { hasText: /^in .*workspace, on the session’s host \(session-\d/ }).waitFor();
    expect(await lately.locator('dt').allTextContents()).toContain('Would have run');
    await lately.getByRole('link', { name: 'asking', exact: true }).waitFor();
    expect(faults).toEqual([]);
  });
});
