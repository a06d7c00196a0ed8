import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { encodeCommand } from '../../../../shared/wire/codec.ts';
import { undeliveredCodec } from '../../../../shared/wire/undelivered.ts';
import { afterwards } from '../setup.ts';
import { axeFindings, chromiumPath, launchBrowser, openPage, type Watched } from './browser.ts';
import { type PageRig, startPageRig } from './page-rig.ts';

/** The views of the system, in a real browser on the whole product. `NATTER_PICTURES=1` writes docs/pictures anew. */

const path = chromiumPath();
const soon = { timeout: 15_000, interval: 50 };
const main = 'agent:main:main' as SessionKey;
const hostile = '<img src=x onerror=alert(1)>';

let browser: Browser;
let rig: PageRig;

const open = async (width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Watched> => {
  const watched = await openPage(browser, { width, colorScheme, origin: rig.url });
  afterwards(() => watched.page.close());
  await watched.page.goto(await rig.link());
  await watched.page.getByRole('navigation', { name: 'Main' }).waitFor();
  return watched;
};
const goTo = async ({ page }: Watched, fragment: string): Promise<void> => {
  await page.evaluate((hash) => {
    (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
  }, fragment);
};

/** A command that its session has already, and one message that may not have arrived. */
const fill = async ({ ports, client }: PageRig): Promise<void> => {
  await client.sessions.post(main, `remember ${hostile}`, { wait: 30 });
  await client.sessions.post(main, '[[fail busy]] now', { wait: 30 });
  await client.sessions.patch(main, { displayName: hostile });
  const message = { messageId: 'late', text: 'late', sender: { id: 'ann' } };
  const data = { type: 'append_message', sessionId: 's', message } as const;
  const facts = { v: 1, id: 'late', key: main, at: 1, actor: 'test', correlationId: 'late', causationId: 'late' } as const;
  const bytes = encodeCommand({ ...facts, data } as never);
  const subject = 'natter.command.0';
  await ports.deadLetters.put({ id: 'x', service: 'session', reason: hostile, subject, at: Date.now(), bytes });
  const target = { channel: 'telegram', to: hostile };
  const undelivered = { id: '2.0', seq: 2, key: main, target, kind: 'assistant_message', text: hostile, turnId: 't' } as const;
  await ports.deadLetters.put({
    ...{ id: '2.0', service: 'delivery', reason: 'socket hang up', subject, at: Date.now() },
    bytes: undeliveredCodec.encode({ ...undelivered, outcome: 'unknown' }),
  });
  await client.post('/v1/memory', { text: `Ann prefers short answers ${hostile}`, scope: `session:${main}` });
};

/** Every view with what shows that it is there. */
const views: readonly (readonly [fragment: string, selector: string])[] = [
  ['#/events', '.event-row'],
  ['#/system', '.places li'],
  ['#/system/hosts', '.cells .cell-0'],
  ['#/system/doctor', '.item'],
  ['#/system/metrics', '.metric'],
  ['#/system/deliveries', '.item'],
  ['#/system/dead-letters', '.item'],
  ['#/system/channels', '.empty'],
  ['#/system/memory', '.item'],
  ['#/system/skills', '.empty'],
  ['#/system/schedules', '.keys div'],
  ['#/system/config', '.empty'],
  ['#/system/config?show=all', '.keys div'],
  ['#/system/log', '.log-line'],
  ['#/system/audit', '.item'],
];

const picture = async ({ page }: Watched, name: string): Promise<void> => {
  if (process.env.NATTER_PICTURES !== '1') return;
  mkdirSync('docs/pictures', { recursive: true });
  await page.screenshot({ path: `docs/pictures/${name}.png`, clip: { x: 0, y: 0, width: 1_000, height: 640 } });
};

describe.skipIf(path === null)('the views of the system', () => {
  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), 'natter-views-'));
    [browser, rig] = await Promise.all([launchBrowser(path ?? ''), startPageRig(home, {})]);
    await fill(rig);
    await vi.waitFor(async () => {
      const { memories } = await rig.client.get<{ memories: unknown[] }>('/v1/memory');
      const { processes } = await rig.client.get<{ processes: unknown[] }>('/v1/hosts');
      expect([memories.length, processes.length]).toEqual([1, 1]);
    }, soon);
  });
  afterAll(async () => {
    await browser?.close();
    await rig?.close();
  });

  test.each([
    ['light', 1_000],
    ['dark', 390],
  ] as const)('axe finds nothing wrong in any, nothing is cut off, and all text is text: %s, %d px', async (scheme, width) => {
    const watched = await open(width, scheme);
    const { page, faults } = watched;
    const wrong: string[] = [];
    for (const [fragment, selector] of views) {
      await goTo(watched, fragment);
      await page.locator(selector).first().waitFor();
      wrong.push(...(await axeFindings(page)).map((finding) => `${fragment}: ${finding}`));
      const overflow = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = (
          globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
        ).document.documentElement;
        return scrollWidth - clientWidth;
      });
      if (overflow > 0) wrong.push(`${fragment}: ${overflow} px are cut off`);
      if (scheme === 'light') await picture(watched, fragment.replace(/^#\/(system\/)?/, '').replace('?show=all', '-all'));
    }
    expect(await page.locator('img').count()).toBe(0);
    expect(wrong).toEqual([]);
    expect(faults).toEqual([]);
  });
});
