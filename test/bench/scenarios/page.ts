import type { Browser, Page } from 'playwright-core';
import { createClient } from '../../../shared/client/main.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { chromiumPath, launchBrowser, openPage } from '../../e2e/gateway/page/browser.ts';
import { quantile } from '../load.ts';
import { putRows, recordSession, turnIdOf } from '../page-history.ts';
import { startSystem } from '../system.ts';
import type { Row } from '../table.ts';
import { freePort } from '../up.ts';

/** The page in a Chromium, served by a gateway on a real broker, with as much in it as people may have: figures of issue 17. */

const long = 'agent:main:long' as SessionKey;
const chatty = 'agent:main:chatty' as SessionKey;
const [longCommits, chatMessages, sessions] = [10_000, 1_000, 100_000];
const [seeks, updatesPerSecond, recordedTimes] = [100, 60, 5];
const token = 'bench-token-0123456789';
const patienceMs = 120_000;
const [scrollMs, seekLimitMs] = [60_000, 5_000];
const rowPixels = 80;

/** An element of the page, as far as what runs there uses it: the project is compiled without the types of the DOM. */
interface PageElement {
  value: string;
  readonly max: string;
  scrollTop: number;
  readonly scrollHeight: number;
  readonly ownerDocument: { readonly defaultView: { requestAnimationFrame(then: () => void): void } };
  closest(selector: string): PageElement;
  querySelector(selector: string): PageElement | null;
  dispatchEvent(event: Event): void;
}

/** The longest task of the page since the last call, ms; 0: none of 50 ms or more. */
const longestTask = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, ...(globalThis as unknown as { tasks: number[] }).tasks.splice(0)));
const watchTasks = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { tasks });
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    });
    observer.observe({ type: 'longtask' as never });
  });
const heapMegabytes = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  await session.detach();
  return usedSize / 1e6;
};
/** When the page shows an element, ms since it was loaded. Looked for at each frame: Playwright's own waiting looks twice a second. */
const shownAt = (page: Page, selector: string): Promise<number> =>
  page.locator('body').evaluate(
    async (body: PageElement, [wanted, limitMs]) => {
      for (const from = performance.now(); body.querySelector(wanted) === null; ) {
        if (performance.now() - from > limitMs) throw new Error(`the page does not show ${wanted}`);
        await new Promise<void>((resolve) => body.ownerDocument.defaultView.requestAnimationFrame(() => resolve()));
      }
      return performance.now();
    },
    [selector, patienceMs] as const,
  );
const goTo = (page: Page, hash: string): Promise<unknown> => page.goto(new URL(hash, page.url()).href);
const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

const firstLoad = async (page: Page, address: string): Promise<Row[]> => {
  let [requests, bytes] = [0, 0];
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.startsWith('/v1')) return;
    requests += 1;
    bytes += Number(response.headers()['content-length'] ?? 0);
  });
  await page.goto(address);
  const what = `first load, to the first of ${sessions} sessions`;
  return [
    { what, value: await shownAt(page, 'a.row'), unit: 'ms' },
    { what: 'its files', value: requests, unit: 'requests', atMost: 20 },
    { what: 'their bytes, compressed', value: bytes / 1_000, unit: 'kB', atMost: 120 },
  ];
};

/** Moves the slider, and measures until the page shows the moment. */
const seek = (page: Page): Promise<number[]> =>
  page.locator('.scrubber input[type=range]').evaluate(
    async (slider: PageElement, [times, limitMs]) => {
      const number = slider.closest('.scrubber').querySelector('.place input') as PageElement;
      const took: number[] = [];
      for (let time = 1; time <= times; time++) {
        const wanted = String((time * 7919) % Number(slider.max));
        const from = performance.now();
        slider.value = wanted;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        while (number.value !== wanted) {
          if (performance.now() - from > limitMs) throw new Error(`the page does not show commit ${wanted}, but ${number.value}`);
          await new Promise((resolve) => setTimeout(resolve));
        }
        took.push(performance.now() - from);
        await new Promise<void>((resolve) => slider.ownerDocument.defaultView.requestAnimationFrame(() => resolve()));
      }
      return took.toSorted((a, b) => a - b);
    },
    [seeks, seekLimitMs] as const,
  );

/** Until the newest moment is shown, and until all commits are read and folded, ms. */
const openTimeMachine = async (page: Page): Promise<{ readonly newestMs: number; readonly allMs: number }> => {
  const began = await page.evaluate(() => performance.now());
  await goTo(page, place(long, 'time'));
  const newestMs = (await shownAt(page, '.moment')) - began;
  return { newestMs, allMs: (await shownAt(page, '.live-on')) - began };
};

const timeMachine = async (page: Page): Promise<Row[]> => {
  const first = await openTimeMachine(page);
  await goTo(page, '#/approvals');
  await page.locator('.approvals').waitFor({ timeout: patienceMs });
  await longestTask(page);
  const again = await openTimeMachine(page);
  const openTask = await longestTask(page);
  const before = await heapMegabytes(page);
  const took = await seek(page);
  const grown = (await heapMegabytes(page)) - before;
  return [
    {
      what: `time machine of ${longCommits} commits: open at the newest, the gateway's first work`,
      value: first.newestMs,
      unit: 'ms',
      atMost: 1_000,
    },
    { what: 'all of them read and folded', value: first.allMs, unit: 'ms' },
    { what: 'open again', value: again.newestMs, unit: 'ms', atMost: 1_000 },
    { what: 'all of them read and folded again', value: again.allMs, unit: 'ms' },
    { what: 'its longest task while it opens', value: openTask, unit: 'ms', atMost: 200 },
    { what: 'a seek, median', value: quantile(took, 0.5), unit: 'ms', atMost: 50 },
    { what: 'a seek, the worst', value: quantile(took, 1), unit: 'ms', atMost: 50 },
    { what: `heap that ${seeks} seeks leave`, value: grown, unit: 'MB', atMost: 10, note: `${before.toFixed(1)} MB before` },
  ];
};

/** All of the chat is on the page, as after somebody has scrolled to its beginning; then its last message grows. */
const chat = async (page: Page, ports: Ports, seconds: number): Promise<Row[]> => {
  const began = await page.evaluate(() => performance.now());
  await goTo(page, place(chatty, 'chat'));
  const said = page.locator('.said');
  const openMs = (await shownAt(page, '.said')) - began;
  while (await page.locator('.earlier').isVisible()) {
    const shown = await said.count();
    await page.locator('.messages').evaluate((messages: PageElement) => {
      messages.scrollTop = 0;
    });
    await said.nth(shown).waitFor({ timeout: patienceMs });
  }
  const shown = await said.count();
  await page.getByRole('button', { name: 'To the newest' }).click();
  await longestTask(page);
  const turn = { id: turnIdOf(chatMessages / 2), attempt: 1 };
  const updates = seconds * updatesPerSecond;
  const since = performance.now();
  for (let [sent, offset] = [0, 0]; sent < updates; sent++) {
    const text = `word${sent} `;
    ports.live.publish(chatty, { turn, step: 1, offset, text });
    offset += text.length;
    await systemClock.sleep(Math.max(0, since + ((sent + 1) * 1_000) / updatesPerSecond - performance.now()));
  }
  const perSecond = (1_000 * updates) / (performance.now() - since);
  await page.getByText(`word${updates - 1}`).waitFor({ timeout: patienceMs });
  return [
    { what: 'chat: open at its end', value: openMs, unit: 'ms' },
    {
      what: `longest task at ${perSecond.toFixed(0)} updates a second`,
      ...{ value: await longestTask(page), unit: 'ms', atMost: 200, note: `${shown} messages on the page` },
    },
  ];
};

const list = async (page: Page, ports: Ports): Promise<Row[]> => {
  await goTo(page, '#/sessions');
  await page.locator('a.row').first().waitFor({ timeout: patienceMs });
  await longestTask(page);
  const reached = await page.locator('.rows').evaluate(
    async (scroller: PageElement, { wanted, until }) => {
      const began = performance.now();
      while (scroller.scrollHeight < wanted && performance.now() - began < until) {
        scroller.scrollTop += 6_000;
        await new Promise<void>((resolve) => scroller.ownerDocument.defaultView.requestAnimationFrame(() => resolve()));
      }
      return scroller.scrollHeight;
    },
    { wanted: rowPixels * (sessions - 1), until: scrollMs },
  );
  const scrolling = await longestTask(page);
  for (let time = 1; time <= recordedTimes; time++) {
    const read = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/sessions');
    await recordSession(ports, `agent:main:late-${time}` as SessionKey, 1);
    await read;
    // It is taken in before the page is drawn again.
    await page
      .locator('.rows')
      .evaluate(
        (rows: PageElement) =>
          new Promise<void>((resolve) => rows.ownerDocument.defaultView.requestAnimationFrame(() => resolve())),
      );
  }
  const note = `${Math.floor(reached / rowPixels)} rows read; 0: none of 50 ms`;
  return [
    { what: `longest task while ${sessions} sessions scroll`, value: scrolling, unit: 'ms', atMost: 50, note },
    { what: 'longest task while others are recorded above them', value: await longestTask(page), unit: 'ms', atMost: 50 },
  ];
};

const measure = async (browser: Browser, url: string, ports: Ports, seconds: number): Promise<Row[]> => {
  const client = createClient({ url, token, patienceMs });
  const { code } = await client.post<{ code: string }>('/v1/page/codes', {}, { repeatable: true });
  const { page } = await openPage(browser, { width: 1280, origin: url });
  await watchTasks(page);
  const first = await firstLoad(page, `${url}/#code=${code}`);
  return [...first, ...(await timeMachine(page)), ...(await chat(page, ports, seconds)), ...(await list(page, ports))];
};

export const page = async (seconds: number): Promise<Row[]> => {
  const path = chromiumPath();
  if (path === null) {
    process.stdout.write('\npage: LEFT OUT, it needs a Chromium in the PATH (on Debian: apt-get install chromium)\n');
    return [];
  }
  const port = await freePort();
  const system = await startSystem('default', { gateway: { port, token, requestsPerMinute: 10_000_000 } });
  const browser = await launchBrowser(path);
  try {
    await recordSession(system.ports, long, longCommits);
    // Two for each turn, of which the last one has no answer yet.
    await recordSession(system.ports, chatty, chatMessages);
    await putRows(system.ports, sessions);
    await system.start('gateway');
    return await measure(browser, `http://127.0.0.1:${port}`, system.ports, seconds);
  } finally {
    await browser.close();
    await system.close();
  }
};
