import { describe, expect, test, vi } from 'vitest';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** What somebody stumbled over who had found the way. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

describe.skipIf(!hasBrowser)('who uses the page again', () => {
  const asking = 'agent:main:asking';
  const failing = 'agent:main:failing';
  const oldest = 'agent:main:oldest';
  const { rig, openTab, open } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(oldest, 'the first words', { wait: 30 });
    await sessions.patch(oldest, { labels: ['garden', 'spring of the year', 'long words here', 'friends of the house'] });
    await Promise.all(Array.from({ length: 20 }, (_, at) => sessions.post(`agent:main:other-${at}`, 'hello', { wait: 30 })));
    await sessions.post(failing, '[[fail busy]] now', { wait: 30 });
    await sessions.post(asking, '[[tool exec {"command": ["true"]}]] please', {});
  });

  test('reads in every view that the page denied, and who said what', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/approvals');
    // Whoever denies may say why, which the agent is told; a field that was opened by mistake is closed again.
    await page.getByRole('button', { name: 'Deny with a reason…' }).click();
    await page.keyboard.press('Escape');
    const toggle = page.locator('button:focus', { hasText: 'Deny with a reason…' });
    const { x: left } = (await toggle.boundingBox()) ?? {};
    await toggle.press('Enter');
    // What would allow the call, and drop the reason, is not there; what sends it stands below the field.
    const answers = page.locator('.approval-answers');
    expect(await answers.getByRole('button').allTextContents()).toEqual(['Deny', 'Cancel']);
    expect(await answers.locator('input, button').first().getAttribute('type')).toBe('text');
    // A second click where "Cancel" was answers nothing.
    const cancel = answers.getByRole('button', { name: 'Cancel' });
    expect((await cancel.boundingBox())?.x).toBe(left);
    await cancel.click();
    await toggle.press('Enter');
    // Enter alone gives no reason, and denies nothing.
    await page.keyboard.press('Enter');
    await answers.getByRole('alert').getByText('Write a reason first. To give none, press Deny.').waitFor();
    await page.keyboard.type('  not on a Friday ');
    expect(await answers.getByRole('alert').count()).toBe(0);
    // Whoever looks at something else first finds what was written; the field takes the focus only when it is opened.
    await goTo(page, place(asking, 'transcript'));
    await page.locator('.line').first().waitFor();
    await goTo(page, '#/approvals');
    const why = page.getByLabel('Why you deny it. The agent is told; Enter denies.');
    expect(await why.inputValue()).toBe('  not on a Friday ');
    expect(await page.locator('input:focus').count()).toBe(0);
    await why.focus();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('The call was denied by the owner, on the page: not on a Friday.').waitFor();
    await page.locator('.act-done', { hasText: 'It did not run' }).waitFor();
    await page.getByText('Nothing waits. When you leave this view, the answers here move to Recent approvals.').waitFor();
    await goTo(page, '#/events');
    await page.locator('.event-text', { hasText: 'denied by you' }).waitFor();
    await page
      .locator('.event-text', { hasText: /^Owner, over the API: / })
      .first()
      .waitFor();
    const other = await open();
    await goTo(other.page, place(asking, 'chat'));
    await other.page.locator('.approval-answer', { hasText: 'Denied by you in another sign-in: “not on a Friday”' }).waitFor();
    const { events } = await rig().client.get<{ events: readonly { type: string; by?: string }[] }>('/v1/events', {
      query: { type: 'approval_resolved' },
    });
    expect(events.map(({ by }) => by)).toEqual([expect.stringMatching(/^token:page:owner:[a-z0-9]{12}$/)]);
    expect([...faults, ...other.faults]).toEqual([]);
  });

  test('finds under Approvals what was answered before, by whom and when', async () => {
    const { page, faults } = await open();
    expect(await wrongIn(page, '#/approvals', '.answered')).toEqual([]);
    const lately = page.getByRole('region', { name: 'Recent approvals' });
    await lately.getByText('Denied by you in another sign-in: “not on a Friday”').waitFor();
    await lately.getByText('true', { exact: true }).waitFor();
    await page.getByText('Nothing waits. A call of a tool that a person must allow appears here.').waitFor();
    expect(await page.locator('.empty pre').count()).toBe(0);
    await lately.getByRole('link', { name: 'Show the answer' }).click();
    await page.locator('.happened').getByText('approval answered').waitFor();
    expect(faults).toEqual([]);
  });

  test('sees only the sessions whose last answer failed, and finds that filter in the address', async () => {
    const { page, faults } = await open();
    await page.getByLabel('Status').selectOption('Last answer failed');
    await vi.waitFor(async () => expect(await page.locator('a.row').allTextContents()).toHaveLength(1), soon);
    await page.locator('a.row', { hasText: 'failing' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/?status=failed');
    await page.reload();
    await page.locator('a.row', { hasText: 'failing' }).waitFor();
    expect(await page.locator('a.row').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('sees the session in the list that was forked just now', async () => {
    const { page, faults } = await open();
    await goTo(page, place(oldest, 'time'));
    await page.locator('a.row').first().waitFor();
    await page.locator('.rows').evaluate((list) => {
      list.scrollTop = list.scrollHeight;
    });
    await page.locator('a.row-open').waitFor();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.composer textarea:focus').waitFor();
    await page.keyboard.type('and more');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'and more' }).waitFor();
    await vi.waitFor(async () => expect(await page.locator('.rows').evaluate((list) => list.scrollTop)).toBeLessThan(40), soon);
    await page.locator('a.row-open', { hasText: 'oldest' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('reads one name of a fork, in the chat and where forks are compared', async () => {
    const { sessions } = rig().client;
    for (const text of ['again', 'and again']) {
      const { seq } = await sessions.get(failing);
      await sessions.fork(failing, { at: seq });
      await sessions.post(failing, text, { wait: 30 });
    }
    const { page, faults } = await open();
    await goTo(page, place(failing, 'chat'));
    const forks = page.locator('.mark', { hasText: 'Forked' });
    await vi.waitFor(async () => expect(await forks.count()).toBe(2), soon);
    const said = await forks.allTextContents();
    const names = said.map((text) => /from commit \d+/.exec(text)?.[0]);
    expect(new Set(names).size).toBe(2);
    await page.getByRole('link', { name: 'Compare with what was left behind' }).last().click();
    const choice = page.getByLabel('Which fork');
    await choice.waitFor();
    const options = await choice.locator('option').allTextContents();
    expect(options.map((text) => /^from commit \d+(?=, as commit \d+, .*\d:\d\d:\d\d)/.exec(text)?.[0])).toEqual(names);
    await page.getByRole('button', { name: 'Back to the commit' }).click();
    await page.getByText('0 messages since the fork').waitFor();
    await page.getByRole('button', { name: 'Compare with what was left behind' }).click();
    await choice.waitFor();
    // The tab leads to the newest moment: nobody has chosen that of the fork.
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.locator('.moment-facts', { hasText: /2 forks.*2 messages since the fork; the agent knows \d+ in all/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('is told in the dialog of a fork what is recorded meanwhile, and forks from the moment that it was asked for', async () => {
    const { sessions } = rig().client;
    const { page, faults } = await open();
    await goTo(page, place(oldest, 'time'));
    await page.locator('.live-on').waitFor();
    const number = Number(await page.getByLabel('Commit number').inputValue());
    await page.getByRole('button', { name: 'Fork from here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`goes on from commit ${number} (no new session is made). Its memories`, { exact: false }).waitFor();
    await sessions.append(oldest, 'said meanwhile');
    await dialog.getByText(`from commit ${number} (no new session is made), and the agent forgets 1 message`).waitFor();
    await dialog.getByText(`fork from commit ${number + 1}, the newest now.`, { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.mark', { hasText: `Forked from commit ${number} ` }).waitFor();
    expect(faults).toEqual([]);
  });

  test('reads the last line of a chat beside the button that leads to the newest', async () => {
    const long = 'agent:main:long';
    for (let count = 0; count < 6; count++) await rig().client.sessions.post(long, `question ${count}\n\n\n\nmore`, { wait: 30 });
    const { page, faults } = await open();
    await page.setViewportSize({ width: 1280, height: 500 });
    await goTo(page, place(long, 'chat'));
    const messages = page.locator('.messages');
    await page.locator('.said-assistant', { hasText: 'question 5' }).waitFor();
    await messages.evaluate((list) => {
      list.scrollTop = 0;
    });
    const button = page.getByRole('button', { name: 'To the newest' });
    await button.waitFor();
    const [above, below] = [await messages.boundingBox(), await button.boundingBox()];
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
    await button.click();
    await vi.waitFor(async () => expect(await button.count()).toBe(0), soon);
    expect(faults).toEqual([]);
  });

  test.each([320, 360, 390, 480, 600, 760, 1000, 1280])(
    'sees no button alone on a line above a chat of %i px, and Delete apart from the others',
    async (width) => {
      const { page, faults } = await open(width);
      await goTo(page, place(oldest, 'chat'));
      const details = page.getByRole('button', { name: 'Details' });
      // Which of them there is depends on the room beside the list.
      await details.or(page.locator('.session-actions button')).filter({ visible: true }).first().waitFor();
      if (await details.isVisible()) await details.click();
      expect(await wrongIn(page, place(oldest, 'chat'), '.session-actions button')).toEqual([]);
      const buttons = await page.locator('.session-actions button').all();
      const lines = await Promise.all(buttons.map(async (button) => (await button.boundingBox())?.y));
      expect(lines).toHaveLength(7);
      for (const line of lines) expect(lines.filter((other) => other === line).length).toBeGreaterThan(1);
      if (width === 1280) expect(new Set(lines).size).toBe(1);
      const [reset, remove] = ['Reset', 'Delete'].map((name) => page.locator('.session-actions').getByRole('button', { name }));
      const [first, last] = [await reset?.boundingBox(), await remove?.boundingBox()];
      const isBelow = (last?.y ?? 0) > (first?.y ?? 0);
      if (!isBelow) expect((last?.x ?? 0) - (first?.x ?? 0) - (first?.width ?? 0)).toBeGreaterThan(20);
      await reset?.press('Tab');
      expect(await remove?.evaluate((button) => button.matches(':focus'))).toBe(true);
      expect(faults).toEqual([]);
    },
  );

  test('shares a session: whoever opens the link reads it and nothing else, until it is taken back', async () => {
    const owner = await open();
    await goTo(owner.page, place(oldest, 'chat'));
    await owner.page.getByRole('button', { name: 'Share…' }).click();
    const dialog = owner.page.getByRole('dialog');
    await dialog.getByLabel('1 day').check();
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const link = await dialog.getByLabel('Link', { exact: true }).inputValue();
    expect(link.startsWith(`${rig().url}/#share=`)).toBe(true);
    await dialog.getByText('It works on this machine only').waitFor();
    const listed = dialog.getByRole('region', { name: 'Links that work now' }).getByRole('listitem');
    await listed.waitFor();
    expect(await axeFindings(owner.page)).toEqual([]);

    const { page, faults } = await openTab();
    const refused: string[] = [];
    page.on('response', (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
    await page.goto(link);
    const note = page.getByText('You are reading a shared session');
    await note.waitFor();
    expect(page.url()).not.toContain('natter_');
    await page.locator('.said-user', { hasText: 'the first words' }).waitFor();
    for (const [tab, there] of [
      ['chat', '.said-assistant'],
      ['transcript', '.line'],
      ['time', '.moment'],
    ] as const)
      expect(await wrongIn(page, place(oldest, tab), there)).toEqual([]);
    await page.getByText('This page and the gateway agree on this commit').waitFor();
    const forbidden = /^(Fork|Delete|Share|Pin|Archive|Rename|Labels|Mark as unread|Reset|Send|New chat)/;
    expect(await page.getByRole('button', { name: forbidden }).count()).toBe(0);
    // Wherever else the address leads, here is the shared session alone.
    for (const elsewhere of [
      place(failing, 'chat'),
      '#/events',
      '#/system/audit',
      '#/account',
      '#/approvals',
      '#/sessions',
      '',
    ]) {
      await goTo(page, elsewhere === '' ? '#/' : elsewhere);
      await page.locator('.said-user', { hasText: 'the first words' }).waitFor();
      expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
      expect(await page.locator('a.row, .composer, .event-row').count()).toBe(0);
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await rig().client.sessions.post(oldest, 'words of today', { wait: 30 });
    await page.locator('.said-user', { hasText: 'words of today' }).waitFor();
    await page.reload();
    await note.waitFor();
    expect(refused).toEqual([]);

    await listed.getByRole('button', { name: 'Revoke' }).click();
    await listed.waitFor({ state: 'detached' });
    const over = page.getByText('This link to a shared session no longer works');
    await over.waitFor();
    await page.goto('about:blank');
    await page.goto(link);
    await over.waitFor();
    expect(page.url()).not.toContain('natter_');
    expect(await page.getByLabel('Access token').isVisible()).toBe(false);
    expect(await axeFindings(page)).toEqual([]);
    expect([...faults, ...owner.faults]).toEqual([]);
  });
});
