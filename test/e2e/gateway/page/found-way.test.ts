import { describe, expect, test, vi } from 'vitest';
import { sessionOutlet } from '../../../../services/delivery/outlets/session.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** Where somebody lands who follows a link of the page, forks, or searches. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;

/** The slider, as far as what runs in the page uses it: the project is compiled without the types of the DOM. */
interface Slider {
  value: string;
  readonly max: string;
  readonly ownerDocument: { readonly defaultView: { requestAnimationFrame(then: () => void): void } };
  dispatchEvent(event: Event): void;
}

describe.skipIf(!hasBrowser)('who goes from one view of the page to another', () => {
  const key = 'agent:main:trail';
  const slow = 'agent:main:slow';
  const { rig, open } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(key, 'tell me of (bluebells)', { wait: 30 });
    await sessions.post(key, '[[fail busy]] now', { wait: 30 });
    for (const text of ['hello', '[[think 1500]] of roses']) await sessions.post(slow, text, { wait: 30 });
  });

  test('sees the newest moment while the log is read, and comes to one that is chosen meanwhile', async () => {
    const { page, faults } = await open();
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route(/\/commits\?after=0/, async (asked) => {
      await held;
      await asked.continue();
    });
    await goTo(page, place(key, 'time'));
    await page.locator('.commit-facts', { hasText: 'The newest commit' }).waitFor();
    await page.locator('.live', { hasText: 'Reading…' }).waitFor();
    await page.locator('.moment-facts .badge-fail').waitFor();
    await page.locator('.commit', { hasText: 'tell me of (bluebells)' }).first().click();
    await page.getByText('Reading the log up to that commit…').waitFor();
    letGo();
    await page.locator('.happened', { hasText: 'tell me of (bluebells)' }).waitFor();
    await page.locator('.live', { hasText: 'earlier commit' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('finds the moment before an error by the link at it, and the errors counted by a link to one of the first moments', async () => {
    const { page, faults } = await open();
    await goTo(page, place(key, 'chat'));
    const link = page.locator('.mark-bad').getByRole('link', { name: 'Show the moment before' });
    await link.press('Enter');
    // The moment before the error says so, and one key leads to the error and back.
    await page.locator('.moment-error', { hasText: 'Right before an error: answer failed' }).waitFor();
    await page.locator('.moment-error button:focus').waitFor();
    expect(await page.locator('.happened').getByText('answer failed').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.locator('.happened').getByText('answer failed').waitFor();
    await page.getByText('This commit is the error: answer failed').waitFor();
    await page.keyboard.press('Enter');
    // The message is in the commit of its error: the one fork there leaves both behind.
    await page
      .locator('.moment-error', {
        hasText: 'A fork from here goes on in this session, without the failed answer and its message',
      })
      .waitFor();
    expect(await page.getByRole('button', { name: /^Fork from before the message \(commit \d+\)$/ }).count()).toBe(0);
    await goTo(page, `${place(key, 'time')}?at=1`);
    await page.reload();
    await page.locator('.jump-error b', { hasText: '1' }).waitFor();
    await page.getByRole('button', { name: 'Next error' }).click();
    await page.locator('.happened').getByText('answer failed').waitFor();
    // A commit is named after what was said in it.
    await page.locator('.commit-type', { hasText: 'assistant message' }).first().waitFor();
    // A fork from before the message that failed leaves that message behind too.
    await page.getByRole('button', { name: /^Fork from before the message \(commit \d+\)$/ }).click();
    await page.getByRole('dialog').getByText('forgets 1 message since then', { exact: false }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.composer textarea:focus').waitFor();
    await page.locator('.left-behind', { hasText: '[[fail busy]] now' }).waitFor();
    expect(await page.locator('.messages > .said .plain').allTextContents()).toEqual(['tell me of (bluebells)']);
    // What is unfolded is read from its beginning: the chat does not go to its end.
    await page.setViewportSize({ width: 1280, height: 400 });
    const summary = page.locator('.left-behind summary');
    const top = (): Promise<number> => summary.evaluate((one) => one.getBoundingClientRect().top);
    await summary.scrollIntoViewIfNeeded();
    const before = await top();
    await summary.click();
    await page.locator('.left-behind[open] .said .plain').waitFor();
    expect(await top()).toBeCloseTo(before, -1);
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.getByRole('button', { name: 'Previous error' }).click();
    await page.getByText('The fork left this commit behind', { exact: false }).waitFor();
    expect(faults).toEqual([]);
  });

  test('drags the slider of the time machine, and it stays where it is left', async () => {
    const { page, faults } = await open();
    await goTo(page, place(key, 'time'));
    await page.locator('.live-on').waitFor();
    const places = await page.getByLabel('Commit', { exact: true }).evaluate(async (slider: Slider) => {
      const seen: { wanted: string; shown: string }[] = [];
      const { requestAnimationFrame } = slider.ownerDocument.defaultView;
      for (let move = 0; move < 100; move++) {
        const wanted = String(move % (Number(slider.max) + 1));
        slider.value = wanted;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        for (let frame = 0; frame <= move % 3; frame++) await new Promise<void>((next) => requestAnimationFrame(() => next()));
        seen.push({ wanted, shown: slider.value });
      }
      return seen;
    });
    expect(places.filter(({ wanted, shown }) => wanted !== shown)).toEqual([]);
    // A number that is too high leads to the newest commit, and the field says which one that is.
    const number = page.getByLabel('Commit number');
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.getByText('There is no commit before the first.').waitFor();
    const newest = await number.getAttribute('max');
    for (const _ of [1, 2]) {
      await number.fill('99');
      await number.press('Enter');
      await vi.waitFor(async () => expect(await number.inputValue()).toBe(newest), soon);
      await page.getByText(`The newest is ${newest}`, { exact: true }).waitFor();
    }
    // Another moment is read from its beginning.
    const moment = page.locator('.moment');
    await page.getByRole('button', { name: 'To the newest' }).click();
    await moment.evaluate((element) => {
      element.scrollTop = 200;
    });
    await vi.waitFor(async () => expect(await moment.evaluate(({ scrollTop }) => scrollTop)).toBe(200), soon);
    await page.getByRole('button', { name: 'One commit back' }).click();
    await vi.waitFor(async () => expect(await moment.evaluate(({ scrollTop }) => scrollTop)).toBe(0), soon);
    expect(faults).toEqual([]);
  });

  test('is told by a fork in the middle of an answer that the question waits, and writes on at once', async () => {
    const { page, faults } = await open();
    await goTo(page, place(slow, 'time'));
    await page.getByRole('button', { name: 'To the beginning' }).click();
    for (const _ of [1, 2]) await page.getByRole('button', { name: 'One commit on' }).click();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Its last question is not answered again by itself', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.composer textarea:focus').waitFor();
    await page.keyboard.type('and roses');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'and roses' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('sees the messages that were found, with their words marked, and no headline that nothing was', async () => {
    const { page, faults } = await open();
    // Neither its first words nor its last ones.
    for (const text of ['good morning', 'tell me of (snowdrops)', 'thank you'])
      await rig().client.sessions.post('agent:main:meadow', text, { wait: 30 });
    await page.getByLabel('Search sessions').fill('(snowdrops)');
    const found = page.getByRole('region', { name: 'Messages with these words' });
    await found.getByText(/^meadow, to the agent/).waitFor();
    await found.getByText(/^meadow, from the agent/).waitFor();
    await vi.waitFor(async () => expect(await found.locator('mark').count()).toBeGreaterThan(1), soon);
    expect(new Set(await found.locator('mark').allTextContents())).toEqual(new Set(['(snowdrops)']));
    await page.getByText('No session here has these words in its name.').waitFor();
    expect(await page.getByRole('heading', { name: 'Nothing matches' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('keeps the focus on the list while going through sessions that are there already', async () => {
    const { page, faults } = await open();
    const row = page.locator('a.row', { hasText: 'trail' });
    await row.press('Enter');
    await page.locator('.said-assistant').first().waitFor();
    expect(await row.evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(faults).toEqual([]);
  });

  test('is asked before "Try again" where a single answer is left behind, and not where none is', async () => {
    const [answered, failed] = ['agent:main:web:asked', 'agent:main:web:unasked'] as const;
    const { sessions } = rig().client;
    await sessions.post(answered, 'one question', { wait: 30 });
    await sessions.post(failed, '[[fail busy]] now', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(answered, 'chat'));
    await page.locator('.said-assistant').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page
      .getByRole('dialog')
      .getByText('This message and what is below it are left behind: 2 messages.', { exact: false })
      .waitFor();
    await page.keyboard.press('Escape');
    await goTo(page, place(failed, 'chat'));
    await page.locator('.mark-actions').getByRole('button', { name: 'Try again' }).click();
    await vi.waitFor(async () => expect((await sessions.get(failed)).generation).toBe(2), soon);
    await goTo(page, place(failed, 'time'));
    await page.locator('.live-on').waitFor();
    await page.getByRole('button', { name: 'Previous reset' }).click();
    await page.getByRole('button', { name: 'Previous error' }).click();
    await page.getByText('It was the first message: a reset begins without it.').waitFor();
    expect((await sessions.get(answered)).generation).toBe(1);
    // What an edit of the first message left behind is folded away as that of any other, and compared.
    await goTo(page, place(answered, 'chat'));
    await page.locator('.said-user').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('another question');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'another question' }).waitFor();
    await page.locator('.left-behind summary', { hasText: 'Left behind by the edit: 2 messages' }).waitFor();
    await page.getByRole('link', { name: 'Compare with what was left behind' }).click();
    await page.getByRole('region', { name: 'Left behind', exact: true }).getByText('one question').first().waitFor();
    await page.getByRole('region', { name: 'New beginning', exact: true }).getByText('another question').first().waitFor();
    await page.getByText('They have no commit in common', { exact: false }).waitFor();
    expect(faults).toEqual([]);
  });

  test('is told how many of the messages since a reset are from Natter itself', async () => {
    const greeted = 'agent:main:web:greeted';
    for (const text of ['hello', '/new']) await rig().client.sessions.post(greeted, text, { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(greeted, 'time'));
    const facts = page.getByRole('region', { name: 'The session after this commit' });
    await facts.getByText('2 messages since the reset, 1 of them from Natter').waitFor();
    expect(faults).toEqual([]);
  });

  test('sees that a session is gone whose row the filter of the list hides', async () => {
    const hidden = 'agent:main:web:hidden';
    const { sessions } = rig().client;
    await sessions.post(hidden, 'an otter', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place('agent:main:web:nope', 'chat'));
    await page.getByRole('heading', { name: 'There is no session with this key' }).waitFor();
    await goTo(page, `${place(hidden, 'chat')}?status=running`);
    await page.getByText('Nothing matches').waitFor();
    const badge = page.locator('.session-head .badge');
    await badge.waitFor();
    await sessions.delete(hidden);
    await vi.waitFor(async () => expect(await badge.count()).toBe(0), soon);
    expect(await page.locator('.session-actions button').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('keeps the list as it is filtered through a fork and through the views of a session', async () => {
    const { page, faults } = await open();
    await goTo(page, `${place(key, 'chat')}?q=trail`);
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click();
    await page.locator('.composer textarea:focus').waitFor();
    expect(new URL(page.url()).hash).toBe(`${place(key, 'chat')}?q=trail`);
    expect(await page.locator('a.row').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('sees the end of a chat, whatever comes in above it or below it', async () => {
    const long = 'agent:main:web:long';
    const { sessions } = rig().client;
    for (let count = 0; count < 8; count++) await sessions.post(long, `**question** ${count}`, { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(long, 'chat'));
    await page.locator('.said-assistant', { hasText: 'question 7' }).waitFor();
    // The list shows what was said without the marks of Markdown.
    await page.locator('.row-open', { hasText: 'question 7' }).waitFor();
    expect(await page.locator('.row-open').textContent()).not.toContain('**');
    await page.setViewportSize({ width: 1280, height: 500 });
    const gap = () => page.locator('.messages').evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
    await vi.waitFor(async () => expect(await gap()).toBeLessThan(2), soon);
    expect(faults).toEqual([]);
  });

  test('goes from a moment to the chat there, from a question that waits to its answer, and out of the past to another session', async () => {
    const asking = 'agent:main:asking';
    const { sessions } = rig().client;
    await sessions.post(asking, 'a heron', { wait: 30 });
    await sessions.post(asking, '[[tool exec {"command": ["true"]}]] please', {});
    const { page, faults } = await open();
    await goTo(page, place(asking, 'time'));
    await page.getByText(/^Waits for a person: true\./).waitFor();
    const facts = page.getByRole('region', { name: 'The session after this commit' });
    await facts.getByText('model: offline (built-in)').waitFor();
    await page.getByRole('link', { name: 'Answer it under Approvals' }).click();
    await page.getByRole('article', { name: /^Approval: / }).waitFor();
    await page.goBack();
    await page.locator('.live-on').waitFor();
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.getByRole('button', { name: 'One commit on' }).click();
    // The number of the commit and that of the address are both said.
    await page.locator('.commit-facts', { hasText: /^Commit 1 of \d+, / }).waitFor();
    await page.getByTitle(/^Log sequence \d+$/).waitFor();
    // What else is in a commit is counted in the list, and named where the pointer rests.
    expect(
      await page
        .locator('.commit')
        .first()
        .getByText(/^\d more events$/)
        .getAttribute('title'),
    ).toMatch(/^Also in this commit: /);
    await page.getByText(/^\d+ internal fields changed$/).click();
    await page.waitForURL(/[?&]at=\d/);
    const { at } = Object.fromEntries(new URL(page.url().replace('#/', '')).searchParams);
    await page.getByText(`Commit 1 has the log sequence ${at}, which`, { exact: false }).waitFor();
    await page.getByRole('link', { name: 'Show in the chat' }).click();
    await page.locator('.said-found', { hasText: 'a heron' }).waitFor();
    await page.getByRole('link', { name: 'Time machine' }).click();
    await page.locator('.live-on').waitFor();
    await page.locator('a.row', { hasText: 'trail' }).click();
    await page.locator('.said-user', { hasText: 'bluebells' }).waitFor();
    expect(new URL(page.url()).hash).toBe(place(key, 'chat'));
    expect(faults).toEqual([]);
  });

  test('goes from one found message to another of the same session at once', async () => {
    const walk = 'agent:main:walk';
    for (const nr of [1, 2, 3]) await rig().client.sessions.post(walk, `egret ${nr}\n${'and on\n'.repeat(12)}`, { wait: 30 });
    const { page, faults } = await open();
    await page.getByLabel('Status').selectOption('all');
    await page.getByLabel('Search sessions').fill('egret');
    for (const nr of [1, 3, 2]) {
      await page
        .locator('.found a', { hasText: `egret ${nr}` })
        .filter({ hasText: 'to the agent' })
        .click();
      const message = page.locator('.messages .said-found', { hasText: `egret ${nr}` });
      const distance = async (): Promise<number> => {
        const [one, list] = await Promise.all([message.boundingBox(), page.locator('.messages').boundingBox()]);
        return one && list ? Math.abs(one.y + one.height / 2 - list.y - list.height / 2) : Number.POSITIVE_INFINITY;
      };
      await vi.waitFor(async () => expect(await distance()).toBeLessThan(250), { timeout: 30_000, interval: 50 });
      // The answer of the same commit has the same words, and is not what was opened.
      expect(await page.locator('.said-found').count()).toBe(1);
    }
    expect(page.url()).toContain('status=all');
    // An address may have anything in it.
    await goTo(page, `${place(walk, 'chat')}?said=${encodeURIComponent('"]')}`);
    await page.reload();
    await page.locator('.messages .said-user', { hasText: 'egret 3' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('goes from a call to the sub-agent that it began, and from there back', async () => {
    const task = JSON.stringify({ task: 'Count the seeds' });
    await rig().client.sessions.post('agent:main:boss', `[[tool sessions_spawn ${task}]] please`, { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place('agent:main:boss', 'chat'));
    await page.locator('summary', { hasText: 'sessions_spawn' }).click();
    await page.locator('.tool').getByRole('link', { name: 'Count the seeds' }).click();
    await page.locator('.said-user', { hasText: 'Count the seeds' }).waitFor();
    const child = decodeURIComponent(page.url().split('/').at(-2) ?? '');
    await page.locator('.session-facts', { hasText: 'sub-agent of' }).getByRole('link', { name: 'boss' }).click();
    await page.locator('.said-user', { hasText: 'please' }).waitFor();
    // What it answers is the sub-agent's, by its name, and nobody else's to change.
    const { commands } = rig().ports;
    const outlet = sessionOutlet({ config: () => configSchema.parse({}), commands, clock: systemClock });
    const target = { channel: 'session', to: 'agent:main:boss', threadId: 'run-1' };
    const kind = 'assistant_message';
    const answer = { id: '1.0', seq: 1, key: child as SessionKey, kind, text: 'Twelve seeds', turnId: 't1', target } as const;
    await outlet.send(answer, new AbortController().signal);
    const said = page.locator('.said-user', { hasText: 'Twelve seeds' });
    await said.getByText('Sub-agent: Count the seeds').waitFor();
    expect(await said.locator('.plain').textContent()).toBe('Twelve seeds');
    expect(await said.getByRole('button').count()).toBe(0);
    await said.getByRole('link', { name: 'Count the seeds' }).click();
    await page.locator('.said-user', { hasText: 'Count the seeds' }).getByText('Another session: boss').waitFor();
    expect(faults).toEqual([]);
  });
});
