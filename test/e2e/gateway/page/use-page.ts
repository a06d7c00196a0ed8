import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { afterwards } from '../setup.ts';
import { axeFindings, chromiumPath, launchBrowser, openPage, type Watched } from './browser.ts';
import { type PageRig, startPageRig } from './page-rig.ts';

const path = chromiumPath();
/** Where there is no Chromium this says so, and the tests of the page are left out. */
export const hasBrowser = path !== null;
if (!hasBrowser)
  console.warn('LEFT OUT: the tests of the page need a Chromium in the PATH (on Debian: apt-get install chromium)');

/** A browser and the whole product, with what `fill` puts into it, while the tests of a file run. */
export const usePage = (settings: object, fill: (rig: PageRig) => Promise<void>) => {
  let browser: Browser;
  let rig: PageRig;
  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), 'natter-page-'));
    [browser, rig] = await Promise.all([launchBrowser(path ?? ''), startPageRig(home, settings)]);
    await fill(rig);
  });
  afterAll(async () => {
    await browser?.close();
    await rig?.close();
  });
  /** A tab that is closed after the test. */
  const openTab = async (width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Watched> => {
    const watched = await openPage(browser, { width, colorScheme, origin: rig.url });
    afterwards(() => watched.page.close());
    return watched;
  };
  /** A tab in which the page is signed in. */
  const open = async (width?: number, colorScheme?: 'light' | 'dark'): Promise<Watched> => {
    const watched = await openTab(width, colorScheme);
    await watched.page.goto(await rig.link());
    await watched.page.getByRole('navigation', { name: 'Main' }).waitFor();
    return watched;
  };
  return { rig: () => rig, openTab, open };
};

export const goTo = (page: Page, fragment: string): Promise<unknown> => page.goto(new URL(fragment, page.url()).href);

/** What is wrong in the view of a fragment once `selector` is there: what axe finds, and whether something is cut off. */
export const wrongIn = async (page: Page, fragment: string, selector: string): Promise<string[]> => {
  await goTo(page, fragment);
  await page.locator(selector).first().waitFor();
  const found = await axeFindings(page);
  return [...found, ...(await cutOff(page))].map((text) => `${fragment}: ${text}`);
};

/** What scrolls sideways: the page itself, or a part of it in which a person scrolls up and down alone. Code, tables and strips of tabs may. */
const cutOff = (page: Page): Promise<string[]> =>
  page.locator('html').evaluate((html) => {
    const { getComputedStyle } = html.ownerDocument.defaultView as unknown as {
      getComputedStyle(of: unknown): { overflowX: string };
    };
    const scrolls = (one: typeof html): boolean => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX);
    const mayScroll = 'pre, table, .tabs, .table-frame, [role=tablist], textarea, select';
    return [html, ...html.querySelectorAll('*')]
      .filter((one) => one.scrollWidth > one.clientWidth && (one === html || (scrolls(one) && !one.matches(mayScroll))))
      .map((one) => `${one.scrollWidth - one.clientWidth} px of ${one.tagName.toLowerCase()}.${one.className} are cut off`);
  });

/** The controls of a page that the Tab key does not reach; of a group of radio buttons it reaches one. */
export const unreachable = async (page: Page): Promise<string[]> => {
  const controls = page.locator(
    ':is(a[href], button, input, select, textarea, summary, [tabindex="0"]):visible:not(:disabled, [type=radio]:not(:checked))',
  );
  const count = await controls.evaluateAll((all) => {
    const reached = new Set<unknown>();
    Object.assign(globalThis, { reached });
    all[0]?.ownerDocument.addEventListener('focusin', ({ target }: { target: unknown }) => reached.add(target));
    return all.length;
  });
  // The focus may be anywhere when it begins.
  for (let presses = 0; presses < 2 * count; presses++) await page.keyboard.press('Tab');
  return controls.evaluateAll((all) => {
    const { reached } = globalThis as unknown as { reached: Set<unknown> };
    return all
      .filter((one) => one.tabIndex >= 0 && !reached.has(one))
      .map((one) => `${one.tagName.toLowerCase()} ${one.getAttribute('aria-label') ?? one.textContent}`);
  });
};

export const takesPictures = process.env.NATTER_PICTURES === '1';

/** With `NATTER_PICTURES=1` writes a picture of the page, as it is, into docs/pictures. One of more than `most` bytes shows less. */
export const picture = async (page: Page, name: string, width = 1_000, most = 60_000): Promise<void> => {
  if (!takesPictures) return;
  mkdirSync('docs/pictures', { recursive: true });
  await page.setViewportSize({ width, height: 800 });
  const file = `docs/pictures/${name}.png`;
  let bytes = Number.POSITIVE_INFINITY;
  for (let height = 600; bytes > most; height -= 40)
    bytes = (await page.screenshot({ path: file, clip: { x: 0, y: 0, width, height } })).byteLength;
};
