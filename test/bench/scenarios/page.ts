import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { startGateway } from '../../../services/gateway/main.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { createClient } from '../../../shared/client/main.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { summarize } from '../../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { chromiumPath, launchBrowser, openPage } from '../../e2e/gateway/page/browser.ts';
import { quantile } from '../load.ts';
import type { Row } from '../table.ts';

/** The page in a Chromium, with as much in it as people may have: figures of issue 17. */

const [long, chatty] = ['agent:main:long', 'agent:main:chatty'] as readonly string[] as readonly [SessionKey, SessionKey];
const [longCommits, chatMessages, sessions] = [10_000, 1_000, 100_000];
const [seeks, updatesPerSecond] = [100, 60];
const patienceMs = 120_000;

const opened: SessionEvent = {
  ...{ type: 'session_opened', v: 1, sessionId: 's', generation: 1 },
  source: { kind: 'api', interactive: false },
};
/** Two commits, four events: a message and its answer. */
const turnOf = (number: number): SessionEvent[][] => {
  const turn = { id: `turn-${number}`, attempt: 1 };
  const messageId = `message-${number}`;
  const text = `message ${number}: how do I mount a **windows** partition?`;
  const message = { messageId, text, sender: { id: 'bench' } };
  return [
    [
      { type: 'user_message', v: 1, message, turnId: turn.id },
      { type: 'turn_started', v: 1, turn: { id: turn.id, messageId }, attempt: 1 },
    ],
    [
      { type: 'assistant_message', v: 1, turn, messageId: turn.id, text: `${text}\n\n- with \`mount\`\n- or by a click` },
      { type: 'turn_completed', v: 1, turn },
    ],
  ];
};

const commitOf = (key: SessionKey, rev: number, at: number, events: readonly SessionEvent[]) => ({
  ...{ v: 1 as const, id: `${key}-${rev}`, key, rev, sessionId: 's', epoch: 0, at, correlationId: 'bench', causationId: 'bench' },
  ...{ actor: 'bench', command: { id: `c${rev}`, seq: null, incarnation: null }, events: [...events] },
});

const seed = async (ports: Ports, key: SessionKey, commits: readonly SessionEvent[][]): Promise<void> => {
  let seq = 0;
  const now = Date.now() - commits.length * 1_000;
  for (const [index, events] of commits.entries()) {
    const result = await ports.events.append(commitOf(key, index + 1, now + index * 1_000, events), seq);
    if (result.kind !== 'stored') throw new Error(`not stored: ${JSON.stringify(result)}`);
    ({ seq } = result);
  }
};

const seedRows = async (ports: Ports, from: number): Promise<void> => {
  const at = Date.now() - sessions * 1_000;
  for (let done = 0; done < sessions; done += 1_000) {
    const rows = Array.from({ length: 1_000 }, (_, index) => {
      const number = done + index;
      const commit = commitOf(`agent:main:web:${number}` as SessionKey, 1, at + number * 1_000, [
        opened,
        ...(turnOf(number)[0] ?? []),
      ]);
      return summarize(null, { ...commit, seq: 1, recordedAt: commit.at, digest: '' } as RecordedCommit);
    });
    await ports.index.put(rows, from);
  }
};

/** The longest task of the page since the last call, ms; 0: none of 50 ms or more. */
const longestTask = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const held = globalThis as unknown as { tasks: number[] };
    return Math.max(0, ...held.tasks.splice(0));
  });
const watchTasks = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    const held = globalThis as unknown as { tasks: number[]; PerformanceObserver: any };
    held.tasks = [];
    const observer = new held.PerformanceObserver((list: any) => {
      for (const { duration } of list.getEntries()) held.tasks.push(duration);
    });
    observer.observe({ entryTypes: ['longtask'] });
  });
};
const heapMegabytes = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  return usedSize / 1e6;
};
const goTo = (page: Page, hash: string): Promise<void> =>
  page.evaluate((to) => {
    (globalThis as any).location.hash = to;
  }, hash);
const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

const timeMachine = async (page: Page): Promise<Row[]> => {
  await longestTask(page);
  const began = performance.now();
  await goTo(page, place(long, 'time'));
  await page.locator('.live-on').waitFor({ timeout: patienceMs });
  const openMs = performance.now() - began;
  const openTask = await longestTask(page);
  const before = await heapMegabytes(page);
  const took = await page.evaluate(async (times: number) => {
    const { document, Event, requestAnimationFrame, performance: clock } = globalThis as any;
    const slider = document.querySelector('.scrubber input[type=range]');
    const each: number[] = [];
    for (let time = 1; time <= times; time++) {
      const wanted = (time * 7919) % Number(slider.max);
      const from = clock.now();
      slider.value = String(wanted);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      while (document.querySelector('.place input').value !== String(wanted)) await Promise.resolve();
      each.push(clock.now() - from);
      await new Promise((resolve) => requestAnimationFrame(() => resolve(null)));
    }
    return each;
  }, seeks);
  const grown = (await heapMegabytes(page)) - before;
  const sorted = took.toSorted((a, b) => a - b);
  return [
    { what: `time machine of ${longCommits} commits: open`, value: openMs, unit: 'ms', goal: '1,000 ms' },
    { what: 'its longest task while it opens', value: openTask, unit: 'ms', goal: '200 ms' },
    { what: 'a seek, median', value: quantile(sorted, 0.5), unit: 'ms', goal: '50 ms' },
    { what: 'a seek, the worst', value: quantile(sorted, 1), unit: 'ms', goal: '50 ms' },
    { what: `heap that ${seeks} seeks leave`, value: grown, unit: 'MB', goal: 'flat' },
  ];
};

const chat = async (page: Page, ports: Ports, seconds: number): Promise<Row[]> => {
  const began = performance.now();
  await goTo(page, place(chatty, 'chat'));
  await page.locator('.said-assistant').last().waitFor({ timeout: patienceMs });
  const openMs = performance.now() - began;
  // All of it, as somebody who has scrolled to its beginning has it.
  while (await page.locator('.earlier').isVisible()) {
    const items = await page.locator('.said').count();
    // What a person does: the page reads on by itself.
    await page.locator('.messages').evaluate((element) => void ((element as any).scrollTop = 0));
    await page.waitForFunction((before) => (globalThis as any).document.querySelectorAll('.said').length > before, items);
  }
  const shown = await page.locator('.said').count();
  await page
    .getByRole('button', { name: 'To the newest' })
    .click({ timeout: 2_000 })
    .catch(() => {});
  await longestTask(page);
  const turn = { id: `turn-${chatMessages}`, attempt: 1 };
  let offset = 0;
  for (let sent = 0; sent < seconds * updatesPerSecond; sent++) {
    const text = `word${sent} `;
    ports.live.publish(chatty, { turn, step: 1, offset, text });
    offset += text.length;
    await systemClock.sleep(1_000 / updatesPerSecond);
  }
  await page.getByText(`word${seconds * updatesPerSecond - 1}`).waitFor({ timeout: patienceMs });
  return [
    { what: `chat: open at its end`, value: openMs, unit: 'ms' },
    {
      what: `longest task at ${updatesPerSecond} updates a second`,
      ...{ value: await longestTask(page), unit: 'ms', goal: '200 ms', note: `${shown} messages on the page` },
    },
  ];
};

const list = async (page: Page): Promise<Row[]> => {
  await goTo(page, '#/sessions');
  await page.locator('a.row').first().waitFor({ timeout: patienceMs });
  await longestTask(page);
  const reached = await page.evaluate(async (until: number) => {
    const { document, performance: clock, requestAnimationFrame } = globalThis as any;
    const scroller = document.querySelector('.rows');
    const began = clock.now();
    for (let height = 0; clock.now() - began < until; ) {
      scroller.scrollTop += 6_000;
      await new Promise((resolve) => requestAnimationFrame(() => resolve(null)));
      height = scroller.scrollHeight;
      if (height > 76 * 99_999) return height / 76;
    }
    return scroller.scrollHeight / 76;
  }, 60_000);
  return [
    {
      what: `longest task while ${sessions} sessions scroll`,
      ...{
        value: await longestTask(page),
        unit: 'ms',
        goal: '50 ms (0: none that long)',
        note: `${Math.floor(reached)} rows read`,
      },
    },
  ];
};

export const page = async (seconds: number): Promise<Row[]> => {
  const path = chromiumPath();
  if (path === null) {
    process.stdout.write('\npage: LEFT OUT, it needs a Chromium in the PATH (on Debian: apt-get install chromium)\n');
    return [];
  }
  const broker = openInMemory({ clock: systemClock, partitions: 4 });
  const ports = broker.portsFor('bench');
  const turns = (count: number) => Array.from({ length: count }, (_, number) => turnOf(number)).flat();
  await seed(ports, long, [[opened], ...turns(longCommits / 2)].slice(0, longCommits));
  await seed(ports, chatty, [[opened], ...turns(chatMessages / 2), turnOf(chatMessages).slice(0, 1).flat()]);
  const { lastSeq } = await ports.events.info();
  await seedRows(ports, lastSeq);
  const [token, log] = ['a-token-for-the-page', pino({ level: 'silent' })];
  const config = fixed(configSchema.parse({ gateway: { port: 0 } }));
  const gateway = await startGateway({ config, ports: broker.portsFor('gateway'), log, token, version: '0' });
  const browser = await launchBrowser(path);
  try {
    const client = createClient({ url: gateway.url, token, patienceMs });
    const { code } = await client.post<{ code: string }>('/v1/page/codes', {}, { repeatable: true });
    const { page: tab } = await openPage(browser, { width: 1280, origin: gateway.url });
    await watchTasks(tab);
    let [requests, bytes] = [0, 0];
    tab.on('response', (response) => {
      if (!new URL(response.url()).pathname.startsWith('/v1')) requests += 1;
      bytes += Number(response.headers()['content-length'] ?? 0);
    });
    const began = performance.now();
    await tab.goto(`${gateway.url}/#code=${code}`);
    await tab.locator('a.row').first().waitFor({ timeout: patienceMs });
    const firstMs = performance.now() - began;
    const first: Row[] = [
      { what: 'first load, to the first row', value: firstMs, unit: 'ms' },
      { what: 'its files', value: requests, unit: 'requests', goal: '20' },
      { what: 'bytes with a known length', value: bytes / 1_000, unit: 'kB', goal: '120 kB of files' },
    ];
    return [...first, ...(await timeMachine(tab)), ...(await chat(tab, ports, seconds)), ...(await list(tab))];
  } finally {
    await browser.close();
    await gateway.stop(1_000);
  }
};
