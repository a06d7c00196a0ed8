import { describe, expect, test, vi } from 'vitest';
import { type EventPage, type Hosts, sessionPath } from '../../../../shared/client/main.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** What an operator reads on the page when something went wrong. */

const key = 'agent:main:web:watched';
const ofSession = `#/sessions/${encodeURIComponent(key)}`;

const gone = 'agent:main:web:gone-on';

describe.skipIf(!hasBrowser)('an operator', () => {
  const { rig, open } = usePage({}, async ({ client }) => {
    await client.sessions.post(key, '[[steps 3]] hello', { wait: 30 });
    for (const text of ['hello', '[[fail busy]] one', 'better', '[[fail busy]] two', 'better again'])
      await client.sessions.post(gone, text, { wait: 30 });
  });

  test('gets from the name of a host in the log to its process, and reads there which names are whose', async () => {
    const { processes } = await rig().client.get<Hosts>('/v1/hosts');
    const member = processes[0]?.services.find(({ name }) => name === 'session')?.member ?? '';
    const { page, faults } = await open();
    const row = page.locator('.item[aria-current]', { hasText: 'session-1' });
    const named = row.locator('details[open]', { hasText: `session: ${member}` });
    for (const address of [`#/events?key=${encodeURIComponent(key)}&type=model_step`, `${ofSession}/time`]) {
      await goTo(page, address);
      if (address.startsWith('#/events')) await page.locator('.event-row').first().click();
      await page.getByRole('link', { name: member }).click();
      await named.waitFor();
    }
    await goTo(page, '#/system/log?find=turn+failed');
    await page.locator('.log-text summary').first().click();
    await page.locator('.log-service a').first().click();
    await row.waitFor();
    // From a line to its commit, and to all lines of its run.
    await page.goBack();
    const lines = page.locator('.log-line .log-line');
    await page.locator('.log-text summary').first().click();
    const commit =
      (await lines
        .first()
        .getByRole('link', { name: /^commit \d+$/ })
        .textContent()) ?? '';
    await lines.first().getByRole('link', { name: commit }).click();
    await page.locator('.happened', { hasText: 'answer failed' }).waitFor();
    await page.goBack();
    await page.locator('.log-text summary').first().click();
    const run = lines.first().locator('.log-field', { hasText: /^run / }).getByRole('link');
    const id = (await run.textContent()) ?? '';
    await run.click();
    await vi.waitFor(async () => expect(await page.getByLabel('Text, session key').inputValue()).toBe(id));
    await page.locator('.log-line', { hasText: id }).first().waitFor();
    await goTo(page, '#/system/hosts?host=session-1');
    expect(await axeFindings(page)).toEqual([]);
    await goTo(page, '#/system/hosts?host=session-1-gone');
    await page.getByText('The host session-1-gone does not run any more.', { exact: false }).waitFor();
    expect(faults).toEqual([]);
  });

  test('sees above a session that has gone on how many answers failed, and gets to the first of them', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/sessions/${encodeURIComponent(gone)}/chat`);
    await page.locator('.session-head').getByRole('link', { name: '2 answers failed' }).click();
    await page.locator('.moment-error', { hasText: 'This commit is the error: answer failed' }).waitFor();
    await page.getByRole('button', { name: 'Next error' }).and(page.locator('[aria-disabled=false]')).waitFor();
    await page.getByRole('button', { name: 'Previous error' }).and(page.locator('[aria-disabled=true]')).waitFor();
    expect(faults).toEqual([]);
  });

  test('chooses how fast the time machine plays', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/sessions/${encodeURIComponent(gone)}/time`);
    const speed = page.getByLabel('Speed, in commits a second');
    expect(await speed.inputValue()).toBe('3');
    await speed.selectOption('30/s');
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await speed.isVisible()).toBe(true);
    expect(faults).toEqual([]);
  });

  test('tries an error again at one place', async () => {
    const failed = 'agent:main:web:fails';
    await rig().client.sessions.post(failed, '[[fail busy]] now', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, `#/sessions/${encodeURIComponent(failed)}/chat`);
    await page.locator('.mark-actions').getByRole('button', { name: 'Try again' }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
    await page.locator('.said-actions').getByRole('button', { name: 'Edit' }).waitFor();
    expect(faults).toEqual([]);
  });

  test.each(['hosts', 'metrics'])('reads of no error where a service starts: %s', async (view) => {
    const { page, faults } = await open();
    await page.getByRole('link', { name: 'System' }).waitFor();
    let refused = 0;
    await page.route(/\/(v1\/(hosts)|metrics)(\?|$)/, (route) =>
      refused++ === 0 ? route.fulfill({ status: 503, json: { code: 'unavailable' } }) : route.continue(),
    );
    const problems = await page.evaluateHandle(() => {
      const found: string[] = [];
      const { document: shown, MutationObserver: Observer } = globalThis as never as {
        document: { body: object; querySelector(selector: string): { textContent: string } | null };
        MutationObserver: new (seen: () => void) => { observe(node: object, options: object): void };
      };
      new Observer(() => {
        const problem = shown.querySelector('.problem');
        if (problem !== null) found.push(problem.textContent);
      }).observe(shown.body, { childList: true, subtree: true });
      return found;
    });
    await goTo(page, `#/system/${view}`);
    await page.locator('.item, .empty, .metric, .log-line').first().waitFor();
    expect(refused).toBeGreaterThan(0);
    expect(await problems.jsonValue()).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('reads under System words and units, no codes', async () => {
    await rig().client.post('/v1/memory', { text: 'Ann prefers short answers', scope: `session:${key}` });
    const { page, faults } = await open();
    await goTo(page, '#/system/memory');
    await page.locator('.item', { hasText: /known in .+ alone/ }).waitFor();
    await goTo(page, '#/system/metrics');
    await page.locator('.metric', { hasText: 'Answers under way' }).getByText('hosts work on them', { exact: false }).waitFor();
    await goTo(page, '#/system/hosts');
    await page.getByText('0 answers under way').waitFor();
    await goTo(page, '#/system/doctor');
    await page.getByText(/of \d+ commits delivery has read \d+, the list of sessions has read \d+/).waitFor();
    await goTo(page, '#/system/config?show=all&find=Ms');
    await page
      .getByText(/^\d+000 ms \(\d+ (s|min)\)$/)
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });

  test('reads one number of a commit, its own in the session, and the one of the log only where that is said', async () => {
    // So that the two differ.
    await rig().client.sessions.post('agent:main:web:other', 'hello', { wait: 30 });
    await rig().client.sessions.post(key, 'and now', { wait: 30 });
    const { events } = await rig().client.get<EventPage>(sessionPath(key, '/events'));
    const last = events.findLast(({ type }) => type === 'assistant_message');
    expect(last?.rev).not.toBe(last?.seq);
    const { page, faults } = await open();
    await goTo(page, `#/events?key=${encodeURIComponent(key)}&type=assistant_message`);
    const row = page.locator('.event-row').first();
    await row.locator('.event-commit', { hasText: new RegExp(`^commit ${last?.rev}$`) }).waitFor();
    await row.click();
    const detail = page.locator('.event-detail');
    const number = detail.getByText(`Commit ${last?.rev} of its session`, { exact: true });
    expect(await number.getAttribute('title')).toBe(`Log sequence ${last?.seq}, event ${last?.id}`);
    await detail.getByRole('link', { name: 'The state after it' }).click();
    await page.locator('.commit-facts', { hasText: `Commit ${last?.rev} of ` }).waitFor();
    expect(await page.getByLabel('Commit number').inputValue()).toBe(`${last?.rev}`);
    expect(faults).toEqual([]);
  });
});
