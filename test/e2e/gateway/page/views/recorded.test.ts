import { describe, expect, test, vi } from 'vitest';
import type { EventPage } from '../../../../../shared/client/main.ts';
import type { SessionEvent } from '../../../../../shared/domain/session/events.ts';
import { commitTo, keyOf } from '../../../../support/domain/commits.ts';
import { axeFindings } from '../browser.ts';
import type { PageRig } from '../page-rig.ts';
import { goTo, hasBrowser, usePage } from '../use-page.ts';

/** Views of what was recorded: the events of all sessions, and the transcript of one. */

const soon = { timeout: 15_000, interval: 50 };
const old = 'agent:main:web:old';
const later = 'agent:main:web:later';
const other = 'agent:main:web:other';
const long = 'agent:main:web:long';
const opened: SessionEvent = {
  ...{ type: 'session_opened', v: 1, sessionId: 's', generation: 1 },
  source: { kind: 'api', interactive: false },
};
const ofLong = `#/sessions/${encodeURIComponent(long)}`;

interface Scrolled {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
}
const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: Scrolled): boolean => scrollHeight - scrollTop - clientHeight < 52;

/** A session that was reset long ago, with more than 2,000 commits after that: more than the gateway looks through for one page. */
const fill = async ({ client: { sessions }, ports }: PageRig): Promise<void> => {
  await sessions.post(old, 'the very first words', { wait: 30 });
  await sessions.reset(old, { reason: 'long ago' });
  await sessions.post(long, '[[tool sessions_list {}]] one', { wait: 30 });
  for (let message = 0; message < 10; message++) await sessions.post(long, `number ${message}`, { wait: 30 });
  await sessions.reset(long, { reason: 'enough of it' });
  for (let message = 0; message < 10; message++) await sessions.post(long, `afterwards ${message}`, { wait: 30 });
  let seq = 0;
  for (let rev = 1; rev <= 2_100; rev++) {
    const labelled: SessionEvent = { type: 'settings_changed', v: 1, changes: { labels: [`label-${rev}`] } };
    const stored = await ports.events.append(
      commitTo(keyOf(other), { rev, at: Date.now(), events: [rev === 1 ? opened : labelled] }),
      seq,
    );
    if (stored.kind !== 'stored') throw new Error(`commit ${rev} was not stored: ${stored.kind}`);
    seq = stored.seq;
  }
};

describe.skipIf(!hasBrowser)('what was recorded', () => {
  const { rig, open } = usePage({}, fill);

  test('an old event is found however much came after it, and only the gateway says that there are none', async () => {
    const { client } = rig();
    const { page, faults } = await open();
    await goTo(page, '#/events?type=session_reset');
    const rows = page.locator('.event-row');
    await rows.filter({ hasText: 'long ago' }).waitFor();
    await client.sessions.post(later, 'one more', { wait: 30 });
    await client.sessions.reset(later, { reason: 'just now' });
    await rows.first().getByText('just now', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Older events' }).count()).toBe(0);
    await page.getByLabel('Kind').selectOption('trouble');
    await page.getByRole('heading', { name: 'No matching events' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('the events are read from the end back, from the first one on, and back from a time', async () => {
    const { client } = rig();
    const { page, faults } = await open();
    await goTo(page, '#/events');
    const list = page.getByLabel('Newest first');
    const heightOf = (): Promise<number> => list.evaluate(({ scrollHeight }) => scrollHeight);
    await page.locator('.event-row').first().waitFor();
    const older = page.getByRole('button', { name: 'Older events' });
    for (let clicks = 0; clicks < 2; clicks++) {
      const height = await heightOf();
      await older.click();
      await vi.waitFor(async () => expect(await heightOf()).toBeGreaterThan(height), soon);
    }
    await page.getByRole('button', { name: 'From the beginning' }).click();
    const first = page.getByLabel('Oldest first').locator('.event-row').first();
    await first.getByText('session opened').waitFor();
    expect(page.url()).toContain('from=beginning');
    expect(await page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true);
    await page.getByLabel('Oldest first').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.locator('.event-row[aria-current]:focus').waitFor();
    await page.getByRole('article', { name: /^Event 1\.1$/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Later events' }).click();
    await page.getByRole('button', { name: 'To the newest' }).click();
    await page.getByLabel('Newest first').waitFor();
    // A moment at which only a part of all this was there.
    const { events } = await client.get<EventPage>('/v1/events', { query: { after: '1500', limit: 1 } });
    const { seq, at } = events[0] ?? { seq: 0, at: 0 };
    await goTo(page, `#/events?until=${new Date(at + 1).toISOString()}`);
    await page.locator('.event-row').first().click();
    const chosen = (): number => Number(/[?&]id=(\d+)/.exec(page.url())?.[1]);
    await vi.waitFor(() => expect(chosen()).toBeGreaterThanOrEqual(seq), soon);
    expect(chosen()).toBeLessThan(seq + 100);
    // Back leads to the list that it was chosen from.
    const before = decodeURIComponent(page.url()).replace(/&id=.*/, '');
    await page.goBack();
    await vi.waitFor(() => expect(decodeURIComponent(page.url())).toBe(before), soon);
    await page.locator('.event-row').first().click();
    await vi.waitFor(() => expect(page.url()).toContain('id='), soon);
    await page.getByLabel('Before a time').fill('2020-01-01T00:00');
    await page.getByRole('heading', { name: 'No matching events' }).waitFor();
    // What the field says: nothing of that minute.
    expect(decodeURIComponent(page.url())).toContain(`until=${new Date('2020-01-01T00:00').toISOString()}`);
    expect(faults).toEqual([]);
  });

  test('a transcript goes on with its session, and keeps the place of who reads it', async () => {
    const { sessions } = rig().client;
    const { page, faults } = await open();
    await goTo(page, `${ofLong}/transcript`);
    const lines = page.getByLabel('Events', { exact: true });
    await page.getByText(/^\d+ events in \d+ changes \(commits\)$/).waitFor();
    const topOf = (): Promise<number> => lines.evaluate(({ scrollTop }) => scrollTop);
    await lines.evaluate((element) => element.scrollTo(0, 100));
    await vi.waitFor(async () => expect(await topOf()).toBe(100), soon);
    const counted = page.locator('.transcript-head .hint');
    const before = (await counted.textContent()) ?? '';
    await sessions.post(long, 'said while somebody reads', { wait: 30 });
    await vi.waitFor(async () => expect(await counted.textContent()).not.toBe(before), soon);
    expect(await topOf()).toBe(100);
    await lines.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.locator('.line-text', { hasText: 'said while somebody reads' }).first().waitFor();
    await sessions.post(long, 'said to who is at the end', { wait: 30 });
    await page.locator('.line-text', { hasText: 'said to who is at the end' }).last().waitFor();
    await vi.waitFor(async () => expect(await lines.evaluate(isAtEnd)).toBe(true), soon);
    expect(faults).toEqual([]);
  });

  test('a transcript says when and why each generation began, how long a call took, and which host wrote a line', async () => {
    const { page, faults } = await open();
    await goTo(page, `${ofLong}/transcript`);
    await page.getByRole('heading', { name: /^The session began \d/ }).waitFor();
    const lines = page.getByLabel('Events', { exact: true });
    const heading = page.getByRole('heading', { name: /^Reset by the owner, over the API \d/ });
    await vi.waitFor(async () => {
      await lines.evaluate((element) => element.scrollBy(0, element.clientHeight / 2));
      expect(await heading.count()).toBe(1);
    }, soon);
    await lines.evaluate((element) => element.scrollTo(0, 0));
    const result = page.locator('.line', { hasText: 'tool result' }).first();
    await result.getByText(/^took \d+ ms$/).waitFor();
    // What a person said was written by a host too, which an event names as well.
    const written = page
      .locator('.line', { hasText: 'user message' })
      .first()
      .getByRole('link', { name: /^host session-\d+-/ });
    await written.waitFor();
    // Its name is as long as the message: the line has one word for it.
    expect(await written.getAttribute('title')).toMatch(/^session-\d+-/);
    expect((await written.boundingBox())?.width).toBeLessThan(40);
    await result.locator('.line-host a').click();
    await page.locator('.item[aria-current]', { hasText: 'session-1' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('a line of a transcript has an address, which an event leads to', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/events?key=${encodeURIComponent(long)}&type=session_reset`);
    await page.locator('.event-row').click();
    await page.locator('.event-detail header', { hasText: /, written by the host session-\d+-/ }).waitFor();
    await page.getByRole('link', { name: 'In the transcript' }).click();
    const marked = page.locator('.line[aria-current=true]');
    await marked.filter({ hasText: 'session reset' }).waitFor();
    const isInSight = await marked.first().evaluate((element) => {
      const [{ top, bottom }, frame] = [element.getBoundingClientRect(), element.closest('.lines')?.getBoundingClientRect()];
      return frame !== undefined && top >= frame.top && bottom <= frame.bottom;
    });
    expect(isInSight).toBe(true);
    const other = page.locator('.line:not([aria-current])').first();
    const address = (await other.locator('.line-at').getAttribute('href')) ?? '';
    expect(address).toMatch(/\/transcript\?at=\d+$/);
    const text = (await other.locator('.line-type').textContent()) ?? '';
    await goTo(page, address);
    await page.reload();
    await marked.filter({ hasText: text }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
