import { afterEach, describe, expect, test, vi } from 'vitest';
import { type EventPage, type PendingApproval, sessionPath } from '../../../../shared/client/main.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** Questions to a person, on the page: each has an address, stands beside what an answer changes, and is answered for good or not at all. */

/** What the browser has, and the types of Node do not. */
declare const document: {
  readonly activeElement: { readonly className: string } | null;
  getSelection(): { selectAllChildren(of: unknown): void; toString(): string };
};

const soon = { timeout: 30_000, interval: 50 };
const minute = 60_000;

afterEach(() => vi.restoreAllMocks());

describe.skipIf(!hasBrowser)('who answers approvals', () => {
  const [asking, waiting, lasting, late] = ['asking', 'waiting', 'lasting', 'late'].map((name) => `agent:main:${name}`) as [
    string,
    string,
    string,
    string,
  ];
  const long = 'agent:main:long';
  const [stopped, failing] = ['agent:main:stopped', 'agent:main:failing'];
  const rules = [{ tool: 'write_file', action: 'ask' }];
  const settings = { tools: { exec: { enabled: true }, rules, approvalMinutes: 30 } };
  const { rig, open, openTab } = usePage(settings, async ({ client: { sessions } }) => {
    await sessions.post(waiting, 'what was said first', { wait: 30 });
    await sessions.post(waiting, '[[tool list_files]] [[then]] [[tool exec {"command": ["true"]}]] do it', {});
    await sessions.post(asking, '[[tool exec {"command": ["false"]}]] please', {});
  });

  const approvalOf = (key: string): Promise<PendingApproval> =>
    vi.waitFor(async () => {
      for await (const approval of rig().client.approvals.list()) if (approval.sessionKey === key) return approval;
      throw new Error('nothing waits');
    }, soon);

  test('finds one of them by its address, while it waits and after it was answered', async () => {
    const [{ approvalId }] = await Promise.all([approvalOf(asking), approvalOf(waiting)]);
    const { page, faults } = await open();
    const address = `#/approvals/${approvalId}`;
    expect(await wrongIn(page, address, '.approval-wanted')).toEqual([]);
    const wanted = page.locator('.approval-wanted');
    expect(await wanted.locator('.approval-action').textContent()).toBe('false');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('approval-wanted');
    expect(await page.locator('.approval').count()).toBe(2);
    expect(await wanted.getByRole('link', { name: 'Link to this approval' }).getAttribute('href')).toBe(address);
    await rig().client.approvals.resolve(approvalId, 'deny', { sessionKey: asking });
    await wanted.locator('.approval-answer', { hasText: /^Denied .*, \d/ }).waitFor();
    // Another tab has not seen it wait.
    const other = await open();
    expect(await wrongIn(other.page, `#/approvals/${approvalId.toUpperCase()}`, '.approval-wanted')).toEqual([]);
    await other.page.locator('.approval-wanted .approval-answer', { hasText: /^Denied .*, \d/ }).waitFor();
    expect(await other.page.evaluate(() => document.activeElement?.className)).toContain('approval-wanted');
    await other.page.locator('.approval-wanted').getByRole('link', { name: 'Show the answer' }).waitFor();
    expect(await other.page.getByRole('region', { name: 'Recent approvals' }).count()).toBe(0);
    await goTo(other.page, '#/approvals/no-such');
    await other.page.getByText('There is no approval no-such.').waitFor();
    const { code } = await rig().client.post<{ code: string }>('/v1/page/codes', { role: 'approver' });
    const approver = await openTab();
    await approver.page.goto(`${rig().url}/#code=${code}`);
    await approver.page.getByRole('navigation', { name: 'Main' }).waitFor();
    // No way leads to a view that would only refuse them.
    const ways = approver.page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    expect(await ways.allTextContents()).toEqual([expect.stringMatching(/^Approvals/), 'You']);
    await goTo(approver.page, address);
    await approver.page.getByText(`${approvalId} does not wait for an answer.`).waitFor();
    expect([...faults, ...other.faults, ...approver.faults]).toEqual([]);
  });

  test('reads beside a question what the session is that an answer changes', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/approvals');
    const card = page.getByRole('article');
    await card.locator('dd', { hasText: /^Awaiting approval3 messagesmodel: / }).waitFor();
    await card.locator('dd', { hasText: /^began \d.* ago \(.*\), and made 1 call before: list_files \(done\)$/ }).waitFor();
    await card.getByText(/^The last \d lines$/).click();
    await card.locator('li', { hasText: 'what was said first' }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('allows a call for good: the same call of that session is not asked about again', async () => {
    const write = '[[tool write_file {"path": "a.md", "content": "x"}]]';
    await rig().client.sessions.post(lasting, `${write} please`, {});
    const { approvalId } = await approvalOf(lasting);
    const { page, faults } = await open();
    await goTo(page, `#/approvals/${approvalId}`);
    const card = page.locator('.approval-wanted');
    await card.getByRole('button', { name: 'Always allow this call' }).press('Enter');
    await card.getByText(/^Allowed by you, /).waitFor();
    await card.getByText(/^It ran, /).waitFor();
    const { status } = await rig().client.sessions.post(lasting, `${write} again`, { wait: 30 });
    expect(status).toBe('ok');
    const { events } = await rig().client.get<EventPage>(sessionPath(lasting, '/events'), {
      query: { after: '0', type: ['approval_requested', 'approval_resolved', 'tool_result'] },
    });
    expect(events.map(({ type }) => type)).toEqual(['approval_requested', 'approval_resolved', 'tool_result', 'tool_result']);
    // Of a command each call is asked about, so nothing is offered that would not hold.
    await goTo(page, `#/approvals/${(await approvalOf(waiting)).approvalId}`);
    await card.locator('.approval-action', { hasText: 'true' }).waitFor();
    expect(await card.getByRole('button').allTextContents()).toEqual(['Allow once', 'Deny', 'Deny with a reason…']);
    expect(faults).toEqual([]);
  });

  test('reads later how each question ended: what the call did, or what came before an answer', async () => {
    const { sessions, approvals } = rig().client;
    await sessions.post(stopped, '[[tool exec {"command": ["true"]}]] please', {});
    await sessions.post(failing, '[[tool exec {"command": ["false"]}]] please', {});
    const { approvalId } = await approvalOf(failing);
    await approvals.resolve(approvalId, 'allow-once', { sessionKey: failing });
    await approvalOf(stopped);
    await sessions.stop(stopped);
    const { page, faults } = await open();
    expect(await wrongIn(page, '#/approvals', '.answered li')).toEqual([]);
    const recent = page.getByRole('region', { name: 'Recent approvals' }).getByRole('listitem');
    const ended = recent.filter({ hasText: 'Not answered: the agent was stopped first, ' });
    await ended.getByRole('link', { name: 'stopped', exact: true }).waitFor();
    expect(await ended.locator('dt').allTextContents()).toContain('Would have run');
    await recent
      .filter({ has: page.getByRole('link', { name: 'failing', exact: true }) })
      .getByText(/^It ran and failed, /)
      .waitFor();
    // A question that waits is not listed as one that ended.
    expect(await recent.filter({ has: page.getByRole('link', { name: 'waiting', exact: true }) }).count()).toBe(0);
    await ended.getByRole('link', { name: 'Link to this approval' }).click();
    await page
      .locator('.approval-wanted .approval-answer', { hasText: /^Not answered: the agent was stopped first, / })
      .waitFor();
    expect(faults).toEqual([]);
  });

  test('reads a long command from its beginning on a small screen, broken at its spaces alone', async () => {
    const words = Array.from({ length: 25 }, (_, at) => `--option-number-${'x'.repeat(at % 9)} -v`);
    const command = ['gzip', ...words.join(' ').split(' '), 'y'.repeat(90)];
    await rig().client.sessions.post(long, 'hello', { wait: 30 });
    await rig().client.sessions.post(long, `[[tool exec ${JSON.stringify({ command })}]] please`, {});
    const { approvalId } = await approvalOf(long);
    const { page, faults } = await open(320);
    await page.setViewportSize({ width: 320, height: 568 });
    await goTo(page, `#/sessions/${encodeURIComponent(long)}/chat`);
    const action = page.locator('.approval-action');
    await action.waitFor();
    // The status gives its room to the name.
    const name = page.locator('.session-title h1');
    expect(await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const top = (of: typeof action): Promise<number> => of.evaluate((one) => one.getBoundingClientRect().top);
    await vi.waitFor(
      async () => expect(await top(page.locator('.approval'))).toBeCloseTo(await top(page.locator('.messages')), -1),
      soon,
    );
    await page.getByRole('button', { name: 'To the newest' }).click();
    await page.getByRole('button', { name: 'Deny', exact: true }).and(page.locator(':visible')).waitFor();
    const lines = await action.locator('span').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(lines).toHaveLength(command.length);
    expect(new Set(lines.slice(0, -1)).size).toBe(1);
    expect(lines.at(-1)).toBeGreaterThan(lines[0] ?? 0);
    const copied = action.evaluate((one) => {
      const selection = document.getSelection();
      selection.selectAllChildren(one);
      return selection.toString();
    });
    expect(await copied).toBe(command.join(' '));
    await rig().client.approvals.resolve(approvalId, 'deny', { sessionKey: long });
    await page.locator('.approval-answer').waitFor();
    expect(faults).toEqual([]);
  });

  test('has the answers in sight on a small screen, with the question that they answer', async () => {
    await approvalOf(waiting);
    const { page, faults } = await open(320);
    await page.setViewportSize({ width: 320, height: 568 });
    const edges = async (selector: string) => {
      const { y = 0, height = 0 } = (await page.locator(selector).first().boundingBox()) ?? {};
      return { top: y, bottom: y + height };
    };
    const card = '.approval:not(.approval-over)';
    // In the chat nothing stands over them.
    await goTo(page, `#/sessions/${encodeURIComponent(waiting)}/chat`);
    await page.locator(`${card} .approval-buttons`).waitFor();
    await vi.waitFor(async () => {
      const [seen, asked, answers] = [
        await edges('.messages'),
        await edges(`${card} header`),
        await edges(`${card} .approval-buttons`),
      ];
      expect(asked.top).toBeGreaterThanOrEqual(seen.top);
      expect(answers.bottom).toBeLessThanOrEqual(seen.bottom);
    }, soon);
    // In Approvals what is told besides comes after a press.
    await goTo(page, '#/approvals');
    await page.locator(`${card} .approval-buttons`).first().waitFor();
    const nav = await edges('nav[aria-label=Main]');
    expect((await edges(`${card} .approval-buttons`)).bottom).toBeLessThanOrEqual(nav.top);
    const before = await edges(`${card} .approval-buttons`);
    await page.getByText('Who asked, and where it runs').first().click();
    await page.locator('dd', { hasText: 'on the session’s host' }).first().waitFor();
    expect(await edges(`${card} .approval-buttons`)).toEqual(before);
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('is told of a question that nobody answered in time that it expired, and that the call did not run', async () => {
    await rig().client.sessions.post(late, '[[tool exec {"command": ["true"]}]] soon', {});
    const { approvalId } = await approvalOf(late);
    const { page, faults } = await open();
    await goTo(page, `#/approvals/${approvalId}`);
    const card = page.locator('.approval-wanted');
    await card.getByText(/^Without an answer it expires in (30|29) min \(.*\) and does not run\.$/).waitFor();
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 31 * minute);
    await card.locator('.approval-answer', { hasText: /^Expired: nobody answered in time, / }).waitFor();
    await card.getByText(/^It did not run, /).waitFor();
    expect(await card.getByRole('button').count()).toBe(0);
    const other = await open();
    await goTo(other.page, `#/approvals/${approvalId}`);
    await other.page.locator('.approval-wanted .approval-answer', { hasText: /^Expired: nobody answered in time, / }).waitFor();
    expect([...faults, ...other.faults]).toEqual([]);
  });
});
