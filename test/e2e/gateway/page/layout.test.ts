import type { Page } from 'playwright-core';
import { describe, expect, test, vi } from 'vitest';
import { type EventPage, sessionPath } from '../../../../shared/client/main.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { assistantMessage, commitTo, keyOf, userMessage } from '../../../support/domain/commits.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** What stays in its place, what is not cut off, and what the views of the system say, on small and large screens. */

const soon = { timeout: 15_000, interval: 20 };
const key = 'agent:main:web:steady';
const chat = `#/sessions/${encodeURIComponent(key)}/chat`;
const time = `#/sessions/${encodeURIComponent(key)}/time`;
const checked = 'agent:main:web:checked';
const forgotten = 'agent:main:web:forgotten';
const greeting = 'agent:main:web:greeting';
const reset = 'agent:main:web:reset';
const pixel = 1;

const yOf = async (page: Page, selector: string): Promise<number> =>
  (await page.locator(selector).first().boundingBox())?.y ?? -1;
/** How much wider than their places the widest of these is. */
const cutOff = (page: Page, selector: string): Promise<number> =>
  page.locator(selector).evaluateAll((all) => Math.max(0, ...all.map((one) => one.scrollWidth - one.clientWidth)));

/** What tells one element from others at first sight. What comes first is the strongest. */
const lookOf = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((one) => {
      const { getComputedStyle: styleOf } = globalThis as never as {
        getComputedStyle(of: unknown): Record<'boxShadow' | 'backgroundColor' | 'borderBottomColor' | 'outline', string>;
      };
      const { boxShadow, backgroundColor, borderBottomColor, outline } = styleOf(one);
      return { boxShadow, backgroundColor, borderBottomColor, outline };
    });
type Rgb = readonly number[];
const rgbOf = (text: string): Rgb[] =>
  [...text.matchAll(/rgb\((\d+), (\d+), (\d+)\)/g)].map(([, ...parts]) => parts.slice(0, 3).map(Number));
/** The contrast of two colours, from 1 to 21 (WCAG). */
const contrastOf = (one: Rgb = [], other: Rgb = []): number => {
  const light = (colour: Rgb): number => {
    const linear = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.05 + 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  };
  const [darker = 0, lighter = 0] = [light(one), light(other)].sort((first, second) => first - second);
  return lighter / darker;
};

describe.skipIf(!hasBrowser)('the page on any screen', () => {
  const { rig, open } = usePage({}, async ({ client, ports }) => {
    await client.sessions.post('agent:main:web:beside', 'good day', { wait: 30 });
    await client.sessions.post(key, '[[steps 3]] hello', { wait: 30 });
    const range = { v: 1, reason: 'manual', sessionId: 's', fromRev: 1, toRev: 1, toSeq: 1 } as const;
    const failed = { type: 'introspection_failed', ...range, code: 'model_timeout', message: 'no answer' } as const;
    await ports.events.append(commitTo(keyOf(checked), { at: Date.UTC(2006, 5, 15, 12), events: [failed] }), 0);
    const events: SessionEvent[] = [
      { type: 'session_opened', v: 1, sessionId: 's1', generation: 1, source: { kind: 'api', interactive: false } },
      {
        ...{ type: 'session_reset', v: 1, previousSessionId: 's1', sessionId: 's2', generation: 2, reason: '/new' },
        cause: { trigger: 'command', rule: '/new' },
      },
      { ...failed, reason: 'new_session', sessionId: 's1' },
    ];
    await ports.events.append(commitTo(keyOf(forgotten), { at: Date.now(), epoch: 1, sessionId: 's2', events }), 0);
    const before = ['one', 'two', 'three', 'four'].flatMap((text) => [userMessage(text), assistantMessage(text)]);
    const greeted = [...events.slice(0, 1), ...before, ...events.slice(1), assistantMessage('Good morning! '.repeat(30))];
    await ports.events.append(commitTo(keyOf(greeting), { at: Date.now(), epoch: 1, sessionId: 's2', events: greeted }), 0);
  });

  test('keeps a session open beside the list, and comes back to it; on a small screen Sessions is the list', async () => {
    const { page, faults } = await open();
    const sessions = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' });
    const address = (): string => new URL(page.url()).hash;
    const transcript = `#/sessions/${encodeURIComponent(key)}/transcript?status=idle`;
    await goTo(page, transcript);
    await page.locator('.line').first().waitFor();
    await sessions.click();
    expect(address()).toBe(transcript);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Events' }).click();
    await page.getByRole('heading', { name: 'Events' }).waitFor();
    await sessions.click();
    await page.locator('.line').first().waitFor();
    expect(address()).toBe(transcript);
    await page.setViewportSize({ width: 390, height: 800 });
    await goTo(page, chat);
    await sessions.click();
    await page.locator('a.row').first().waitFor();
    expect(address()).toBe('#/sessions');
    expect(faults).toEqual([]);
  });

  test('no row moves when the list says that an answer failed', async () => {
    const { page, faults } = await open();
    await page.locator('a.row', { hasText: 'hello' }).waitFor();
    const before = await yOf(page, '.rows');
    expect(await page.locator('.needs-you a').count()).toBe(0);
    await rig().client.sessions.post('agent:main:web:failing', '[[fail busy]] now', { wait: 30 });
    await page.getByRole('link', { name: 'Last answer failed 1' }).waitFor();
    expect(await yOf(page, '.rows')).toBe(before);
    // A later answer that works does not hide it.
    await rig().client.sessions.post('agent:main:web:failing', 'and now?', { wait: 30 });
    const failures = page.locator('a.row .row-failures', { hasText: /^Error: 1 answer failed\s*$/ });
    await failures.waitFor();
    const sizeOf = (one: unknown): string =>
      (globalThis as never as { getComputedStyle(of: unknown): { fontSize: string } }).getComputedStyle(one).fontSize;
    expect(await failures.evaluate(sizeOf)).toBe(await page.locator('a.row .row-text').first().evaluate(sizeOf));
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await wrongIn(page, '#/sessions', 'a.row')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test.each([390, 320])(
    'the last place of the navigation can be reached on a phone that lies on its side, %i px high',
    async (height) => {
      const { page, faults } = await open(844);
      await page.setViewportSize({ width: 844, height });
      const search = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Search' });
      await search.scrollIntoViewIfNeeded();
      const box = await search.boundingBox();
      expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
      // What scrolls, if anything, is the navigation by itself.
      expect(await page.locator('html').evaluate((html) => html.scrollHeight)).toBe(height);
      expect(faults).toEqual([]);
    },
  );

  test('the divider of a reset says that the checkpoint of what it ended failed, and leads to it', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/sessions/${encodeURIComponent(forgotten)}/chat`);
    const divider = page.locator('.mark', { hasText: 'with the chat command /new: this session begins anew.' });
    await divider.getByText(/Nothing of it was remembered: .*no answer/).waitFor();
    await divider.getByRole('link', { name: 'Show the checkpoint that failed' }).click();
    await page.locator('.scrubber').waitFor();
    const last = await rig().ports.events.last(keyOf(forgotten));
    expect(page.url()).toContain(`/time?at=${last?.seq}`);
    expect(faults).toEqual([]);
  });

  test('a chat opens with the line of its reset in sight while nobody has said anything since', async () => {
    const { page, faults } = await open(320);
    await page.setViewportSize({ width: 320, height: 568 });
    await goTo(page, `#/sessions/${encodeURIComponent(greeting)}/chat`);
    await page.locator('.said-assistant', { hasText: 'Good morning!' }).waitFor();
    const top = async (): Promise<number> => {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      return (await yOf(page, '.mark-beginning')) - (await yOf(page, '.messages'));
    };
    expect(Math.abs(await top())).toBeLessThanOrEqual(pixel);
    // It is there to stay, until somebody goes on from there.
    await page.setViewportSize({ width: 320, height: 500 });
    expect(Math.abs(await top())).toBeLessThanOrEqual(pixel);
    await page.getByRole('button', { name: 'To the newest' }).click();
    await vi.waitFor(async () => expect(await top()).toBeLessThan(-100), soon);
    await page.setViewportSize({ width: 320, height: 568 });
    expect(await top()).toBeLessThan(-100);
    expect(faults).toEqual([]);
  });

  test.each([
    ['light', 'no-preference', 'none'],
    ['dark', 'no-preference', 'none'],
    ['dark', 'more', 'none'],
    ['light', 'no-preference', 'active'],
  ] as const)(
    'a tablet shows the list beside a session, and which one is open: %s, contrast %s, forced colours %s',
    async (scheme, contrast, forcedColors) => {
      const { page, faults } = await open(820, scheme);
      await page.emulateMedia({ contrast, forcedColors });
      await goTo(page, chat);
      await page.getByLabel('Message', { exact: true }).waitFor();
      const row = page.locator('a.row[aria-current]', { hasText: 'hello' });
      await row.waitFor();
      for (const [current, other] of [
        ['a.row-open', 'a.row:not(.row-open)'],
        ['.rail a[aria-current]', '.rail a:not([aria-current])'],
        ['.tabs a[aria-current]', '.tabs a:not([aria-current])'],
      ] as const)
        expect(await lookOf(page, current)).not.toEqual(await lookOf(page, other));
      const [mark] = Object.values(await lookOf(page, 'a.row-open')).flatMap((colour) => rgbOf(colour));
      const [ground] = rgbOf((await lookOf(page, 'body')).backgroundColor);
      expect(contrastOf(mark, ground)).toBeGreaterThan(3);
      await page.keyboard.press('Tab');
      await row.focus();
      expect((await lookOf(page, 'a.row:focus')).outline).toContain(
        contrast === 'more' || forcedColors === 'active' ? '3px' : '2px',
      );
      expect(await axeFindings(page)).toEqual([]);
      expect(faults).toEqual([]);
    },
  );

  test('a telephone has a button for the search of everything, which a tap closes, and leads back to the list', async () => {
    const { page, faults } = await open(390);
    await goTo(page, chat);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Search' }).click();
    const search = page.getByRole('dialog', { name: 'Search' });
    await search.getByRole('button', { name: 'Close' }).click();
    await search.waitFor({ state: 'detached' });
    expect(await page.locator('.list').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Back to the list' }).click();
    await page.locator('a.row', { hasText: 'hello' }).waitFor();
    // No place moves when another is the current one.
    const places = page.locator('.rail li');
    const edges = (): Promise<number[]> => places.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
    const before = await edges();
    await page.getByRole('link', { name: 'Approvals', exact: true }).click();
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    expect(await edges()).toEqual(before);
    expect(faults).toEqual([]);
  });

  test('a span of almost twelve hours has no sixtieth minute', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/account');
    expect(await page.locator('dt', { hasText: 'Time left' }).locator('+ dd').textContent()).toMatch(/^(12 h|11 h 5\d min)$/);
    expect(faults).toEqual([]);
  });

  test('all that is shown can be selected at once, and the field of labels says what it takes', async () => {
    const { page, faults } = await open();
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await page.getByRole('button', { name: 'Labels…' }).click();
    await page.getByText('Labels, with commas between them').waitFor();
    const count = await page.locator('a.row').count();
    await page.getByRole('button', { name: `Select all ${count} shown` }).click();
    await page.getByText(`${count} sessions selected`).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Select none' }).click();
    await page.getByText('0 sessions selected').waitFor();
    expect(faults).toEqual([]);
  });

  test.each([320, 390, 800, 1280, 1920])('nothing moves while a session is renamed or labelled, %i px', async (width) => {
    const { page, faults } = await open(width);
    await goTo(page, chat);
    if (width < 1000) {
      await page.getByRole('button', { name: 'Details' }).click();
      await page.locator('.session-key').waitFor();
      if (width === 390) expect(await cutOff(page, '.session-title h1')).toBe(0);
    }
    await page.getByRole('button', { name: 'Rename' }).waitFor();
    const height = async () => (await page.locator('.session-head').boundingBox())?.height ?? -1;
    const before = await height();
    for (const [button, label] of [
      ['Rename', 'Name'],
      ['Rename', 'Icon'],
      ['Labels', 'Labels, with commas between them'],
    ] as const) {
      await page.locator('.session-actions').getByRole('button', { name: button }).click();
      const field = page.locator('.session-actions').getByLabel(label);
      await field.waitFor();
      expect(Math.abs((await height()) - before)).toBeLessThan(pixel);
      const [head, form] = await Promise.all([page.locator('.session-head'), field].map((one) => one.boundingBox()));
      expect((form?.y ?? 0) + (form?.height ?? 0)).toBeLessThanOrEqual((head?.y ?? 0) + (head?.height ?? 0));
      expect(await axeFindings(page)).toEqual([]);
      await field.press('Escape');
      await field.waitFor({ state: 'detached' });
      const opener = page.locator('.session-actions').getByRole('button', { name: button });
      expect(await opener.evaluate((element) => element.matches(':focus'))).toBe(true);
    }
    for (const button of ['Pin', 'Unpin']) {
      await page.locator('.session-actions').getByRole('button', { name: button, exact: true }).click();
      await page.locator('.session-actions .act-done', { hasText: `${button}ned` }).waitFor();
      expect(await cutOff(page, '.session-actions .act-done')).toBe(0);
      expect(Math.abs((await height()) - before)).toBeLessThan(pixel);
    }
    expect(faults).toEqual([]);
  });

  test.each([360, 1280])('a long name gives way to the labels beside it, %i px', async (width) => {
    const name = 'The long story of how the garden was planted, and of what grew there in the end';
    await rig().client.sessions.patch(key, { displayName: name, labels: ['gardening', 'outdoors'] });
    const { page, faults } = await open(width);
    await page.locator('a.row', { hasText: 'The long story' }).waitFor();
    expect(await page.locator('.row-label').allTextContents()).toEqual(['gardening', 'outdoors']);
    // Less than a pixel would cut off a letter.
    for (const chip of await page.locator('.row-label').all()) {
      const before = await chip.boundingBox();
      await chip.evaluate(({ style }) => style.setProperty('flex', 'none'));
      expect((await chip.boundingBox())?.width).toBeCloseTo(before?.width ?? 0, 3);
    }
    expect(await cutOff(page, '.row-name')).toBe(0);
    // The menu of sessions there is as wide as the longest name, where there is room for it.
    expect(await wrongIn(page, '#/system/hosts', '.hosts-one')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('the status in the head of a session says that it is that of now while the time machine shows the past', async () => {
    const { events } = await rig().client.get<EventPage>(sessionPath(key, '/events'));
    const { page, faults } = await open();
    await goTo(page, `${time}?at=${events[0]?.seq}`);
    await page.locator('.moment-facts .badge', { hasText: 'Running' }).waitFor();
    await page.locator('.session-head .session-now', { hasText: 'Now: Idle' }).waitFor();
    // On a small screen as well.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('.session-head .session-now', { hasText: 'Now:' }).waitFor();
    await page.setViewportSize({ width: 320, height: 844 });
    await goTo(page, time.replace(/time$/, 'transcript'));
    const count = page.locator('.transcript-head .hint', { hasText: /^\d+ events? in / });
    expect(await count.evaluate(({ clientHeight }) => clientHeight)).toBeLessThan(30);
    await page.setViewportSize({ width: 1_280, height: 800 });
    await goTo(page, `${time}?at=${events[0]?.seq}`);
    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await page.locator('.session-title .badge', { hasText: 'Idle' }).waitFor();
    expect(await page.locator('.session-now').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the whole menu of the system is in sight on a screen of 1280 × 800', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/doctor');
    await page.locator('.places .count').first().waitFor();
    expect(await page.locator('.places').evaluate((menu) => menu.scrollHeight - menu.clientHeight)).toBe(0);
    expect(faults).toEqual([]);
  });

  test.each([320, 800, 1280, 1920])('events of long ago are not cut, and a failed checkpoint is red, %i px', async (width) => {
    const { page, faults } = await open(width);
    await goTo(page, `#/events?key=${encodeURIComponent(checked)}`);
    const row = page.locator('.event-row', { hasText: 'checkpoint failed' });
    await row.waitFor();
    expect(await cutOff(page, '.event-row time')).toBe(0);
    expect(await cutOff(page, '.event-row .event-type')).toBe(0);
    const red = await page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('--red')`);
    const colours = await row.locator('.event-type').evaluate((type) => {
      const { getComputedStyle: styleOf } = globalThis as never as {
        getComputedStyle(of: unknown): { color: string; getPropertyValue(name: string): string };
      };
      const own = styleOf(type).color;
      (type as unknown as { style: { color: string } }).style.color = 'var(--red)';
      return [own, styleOf(type).color];
    });
    expect(colours[0], `${red}`).toBe(colours[1]);
    if (width >= 1280) await page.locator('.event-head', { hasText: 'Commit' }).waitFor();
    expect(await wrongIn(page, `#/events?key=${encodeURIComponent(checked)}`, '.event-row')).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('the log tells what concerns security as the audit view does', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/log?find=token_created');
    const line = page.locator('.log-line', { hasText: 'token created' }).first();
    await line.waitFor();
    await vi.waitFor(async () => expect(await line.textContent()).toMatch(/token created .*role: admin/), soon);
    expect(await line.textContent()).not.toMatch(/audit|token_created|requestId|outcome/);
    await goTo(page, '#/system/audit');
    await page.locator('.item').first().waitFor();
    await page.getByLabel('Who, what, or a session').fill('token created');
    await vi.waitFor(async () => {
      const titles = await page.locator('.item h2').allTextContents();
      expect(new Set(titles)).toEqual(new Set(['token created']));
    }, soon);
    // Who reset a session, and why: from there to the commit.
    await rig().client.sessions.post(reset, 'good day', { wait: 30 });
    await rig().client.sessions.reset(reset, { reason: 'tidying up' });
    await page.getByLabel('Who, what, or a session').fill('session reset');
    const item = page.locator('.item', { hasText: 'reason: tidying up' });
    expect(await item.locator('.item-facts').textContent()).toContain('by the owner, over the API from 127.0.0.1');
    expect(await item.locator('h2').getAttribute('title')).toBe('session_reset');
    await item.getByRole('link', { name: 'Show the commit' }).click();
    await page
      .getByRole('button', { name: /tidying up/ })
      .first()
      .waitFor();
    await goTo(page, '#/system/audit');
    await page.getByLabel('Who, what, or a session').fill('nobody at all');
    await page.getByRole('heading', { name: 'Nothing of this kind' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('an operator finds a setting by what it does, and reads no count of nothing', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/config?find=lost+disk');
    await page.locator('.keys code', { hasText: 'nats.replicas' }).waitFor();
    await goTo(page, '#/system/schedules');
    await page.getByText('There is none now.').waitFor();
    await goTo(page, '#/system/access');
    // Which of the signed-in pages this one is.
    await page.getByRole('heading', { name: 'This page', exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'This page', exact: true }).count()).toBe(1);
    expect(faults).toEqual([]);
  });
});
