import { describe, expect, test, vi } from 'vitest';
import { exportLines } from '../../../../../services/cli/stored-export.ts';
import type { Hosts, MemoryPage, ScheduledMessages } from '../../../../../shared/client/main.ts';
import type { SessionKey } from '../../../../../shared/domain/keys/session-key.ts';
import { encodeCommand } from '../../../../../shared/wire/codec.ts';
import { undeliveredCodec } from '../../../../../shared/wire/undelivered.ts';
import { axeFindings } from '../browser.ts';
import type { PageRig } from '../page-rig.ts';
import { goTo, hasBrowser, unreachable, usePage, wrongIn } from '../use-page.ts';
import { everyView } from './every-view.ts';

/** The views of the page, in a real browser on the whole product. */

const soon = { timeout: 15_000, interval: 50 };
const main = 'agent:main:main' as SessionKey;
const hostile = '<img src=x onerror=alert(1)>';

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
  await vi.waitFor(async () => {
    const { memories } = await client.get<MemoryPage>('/v1/memory');
    const { processes } = await client.get<Hosts>('/v1/hosts');
    expect([memories.length, processes.length]).toEqual([1, 1]);
  }, soon);
};

const ofMain = `#/sessions/${encodeURIComponent(main)}`;

describe.skipIf(!hasBrowser)('the views of the system', () => {
  const { rig, openTab, open } = usePage({}, fill);

  test.each([
    ['light', 1_000],
    ['dark', 390],
    ['dark', 1_920],
    ['light', 320],
  ] as const)('axe finds nothing wrong in any, nothing is cut off, and all text is text: %s, %d px', async (scheme, width) => {
    const { page, faults } = await open(width, scheme);
    const wrong: string[] = [];
    for (const view of everyView(main, '.mark-bad')) wrong.push(...(await wrongIn(page, ...view)));
    expect(await page.locator('img').count()).toBe(0);
    expect(wrong).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('every control of every view is reached by the Tab key', async () => {
    const { page, faults } = await open();
    const missed: string[] = [];
    for (const [fragment, selector] of everyView(main, '.mark-bad')) {
      await goTo(page, fragment);
      await page.locator(selector).first().waitFor();
      missed.push(...(await unreachable(page)).map((text) => `${fragment}: ${text}`));
    }
    expect(missed).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('what is cut off within a view is found', async () => {
    const { page } = await open();
    await goTo(page, '#/system/memory');
    const item = page.locator('.item').first();
    await item.evaluate(({ style }) => style.setProperty('width', '3000px'));
    expect(await wrongIn(page, '#/system/memory', '.item')).toEqual([expect.stringContaining('px of ')]);
  });

  test('the doctor says of every finding what was checked, and of what was not which command checks it', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/doctor');
    const findings = page.locator('.items > .item');
    await findings.first().waitFor();
    expect(await findings.filter({ hasNot: page.locator('.hint') }).allTextContents()).toEqual([]);
    await findings
      .filter({ hasText: 'Messages that nobody could process' })
      .getByRole('heading', { name: 'dead letters' })
      .waitFor();
    // The last answer of `fill` failed: nobody reads that all is well.
    await findings.filter({ hasText: 'the last one failed' }).getByText('Warning').waitFor();
    const unchecked = page.getByRole('region', { name: 'Not checked here' });
    await unchecked.getByText('Whether the model’s provider answers', { exact: false }).waitFor();
    await unchecked.getByText('natter doctor').waitFor();
    expect(await page.getByText('Nothing is wrong.').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('schedules and values are in words, a scheduled message is cancelled, an empty view says what appears there, and equal lines of the log are one row', async () => {
    await rig().client.sessions.post(main, { text: 'Is the build green?', sendAt: Date.now() + 3_600_000 });
    const { page, faults } = await open();
    await goTo(page, '#/system/schedules');
    await page.getByText(/^All sessions begin afresh every day at 04:00 \(.+\)\.$/).waitFor();
    await page.getByText(/^Next: .+ on your clock$/).waitFor();
    expect(await page.locator('.view pre, .view code').count()).toBe(0);
    const message = page.locator('.item', { hasText: 'The message “Is the build green?” will be sent.' });
    await message.getByRole('link', { name: hostile, exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await message.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
    await message.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the message' }).click();
    await message.waitFor({ state: 'detached' });
    expect(await rig().client.get<ScheduledMessages>('/v1/scheduled-messages')).toEqual({ messages: [], complete: true });
    await goTo(page, '#/system/config?show=all&find=gateway.requestsPerMinute');
    const value = page.locator('.keys > div');
    await value.getByText('From: the default: you set nothing').waitFor();
    await value.getByText('A change takes effect as soon as the file is saved').waitFor();
    await goTo(page, '#/system/channels');
    await page.getByText('Put this line between the outer braces of the file natter.json', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Copy the line' }).waitFor();
    const fields = { service: 'session', name: 'x' };
    const lines = Array.from({ length: 17 }, (_, at) => ({
      ...{ number: at + 1, at: Date.now(), level: 'warn', message: 'turn failed', fields: { ...fields, turnId: `t${at}` } },
    }));
    const answer = (asked: URL) => ({ lines: asked.searchParams.get('after') === '0' ? lines : [], next: lines.length });
    await page.route(/\/v1\/log\?/, (route) => route.fulfill({ json: answer(new URL(route.request().url())) }));
    await goTo(page, '#/system/log');
    const group = page.locator('.log > .log-line');
    await group.getByText(/turn failed ×17, since \d/).waitFor();
    expect(await group.count()).toBe(1);
    await group.locator('summary').click();
    await vi.waitFor(async () => expect(await group.locator('.log-line').count()).toBe(17), soon);
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('the time machine shows the memories that the agent was given, and leads to where one was written', async () => {
    const key = 'agent:main:web:reminded';
    const { client } = rig();
    const text = `The build server is called Gantry ${hostile}`;
    await client.sessions.post(key, 'hello', { wait: 30 });
    await client.post('/v1/memory', { text, scope: `session:${key}` });
    await vi.waitFor(async () => {
      const { memories } = await client.get<MemoryPage>('/v1/memory', { query: { query: 'Gantry' } });
      expect(memories).toHaveLength(1);
    });
    await client.sessions.post(key, 'what do you remember', { wait: 30 });
    const later = 'Gantry has a second disk';
    await client.post('/v1/memory', { text: later, scope: `session:${key}` });
    await vi.waitFor(async () => {
      const { memories } = await client.get<MemoryPage>('/v1/memory', { query: { query: 'Gantry' } });
      expect(memories).toHaveLength(2);
    });
    await client.sessions.post(key, 'what do you remember', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, `#/sessions/${encodeURIComponent(key)}/time`);
    await page.locator('.moment-memories summary').press('Enter');
    const given = page.locator('.moment-memories li', { hasText: text });
    await given.waitFor();
    const changed = page.getByRole('region', { name: 'What it changed' });
    await changed.getByText('instructions, memory', { exact: true }).waitFor();
    await changed.getByText('Given to the agent: 1 memory').waitFor();
    await changed.getByRole('listitem').filter({ hasText: later }).waitFor();
    await given.getByRole('link', { name: 'The moment it was written' }).press('Enter');
    await page.locator('.happened').getByText('memory', { exact: false }).first().waitFor();
    await changed.getByText(`none ${text}`).waitFor();
    // And from the memory to the sessions that were given it.
    await goTo(page, '#/system/memory?find=Gantry');
    await page.locator('.item', { hasText: text }).getByRole('link', { name: 'Who was given it' }).click();
    const rows = page.locator('.event-row');
    await rows.filter({ hasText: 'prompt changed' }).first().waitFor();
    expect(new Set(await rows.locator('.event-key').allTextContents()).size).toBe(1);
    expect(await page.getByLabel('Kind').locator('option:checked').textContent()).toBe('Who was given a memory');
    expect(faults).toEqual([]);
  });

  test('a memory is added, edited and forgotten where memories are read', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/memory');
    await page.getByLabel('Add a memory').fill('The build server is called Anvil.');
    await page.keyboard.press('Enter');
    const added = page.locator('.item', { hasText: 'called Anvil' });
    await added.getByText('known in every session of the agent').waitFor();
    // Nobody talks where it is recorded.
    expect(await added.getByRole('link').allTextContents()).toEqual(['Who was given it']);
    // That it was added is no news beside what is searched for next.
    const outcome = page.locator('.act-done');
    await outcome.getByText('It is remembered').waitFor();
    await page.getByLabel('Search', { exact: true }).fill('anvil');
    await outcome.waitFor({ state: 'detached' });
    await added.getByRole('button', { name: 'Edit' }).press('Enter');
    await page.keyboard.press('Escape');
    await added.getByRole('button', { name: 'Edit' }).press('Enter');
    await page.getByLabel('Edited memory').fill('The build server is called Anvil Two.');
    expect(await added.getByRole('button').allTextContents()).toEqual(['Save', 'Cancel']);
    const save = page.getByRole('button', { name: 'Save' });
    const { x = 0, y = 0, width = 0, height = 0 } = (await save.boundingBox()) ?? {};
    await save.press('Enter');
    await outcome.getByText('It is changed').waitFor();
    // Whoever saved it goes on there, and a second click where Save was would not forget it.
    await added.locator('button:focus', { hasText: 'Edit' }).waitFor();
    const forget = (await added.getByRole('button', { name: 'Forget…' }).boundingBox()) ?? { x: 0, y: 0 };
    expect(forget.x > x + width || forget.y > y + height).toBe(true);
    await vi.waitFor(async () => expect(await added.locator('p').first().textContent()).toContain('Anvil Two'), soon);
    expect(await added.count()).toBe(1);
    await added.getByText('known in every session of the agent').waitFor();
    await added.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('dialog').locator('.button-danger', { hasText: 'Forget' }).click();
    await added.waitFor({ state: 'detached' });
    await goTo(page, '#/sessions/agent:main:memory/chat');
    await page.getByText('This is where memories added by hand are recorded').waitFor();
    await page.locator('.session-key', { hasText: 'agent:main:memory' }).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0);
    expect(
      await page
        .locator('.session-head')
        .getByRole('button', { name: /^(Reset|Archive|Delete|Share)/ })
        .count(),
    ).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.locator('.session').getByRole('link', { name: 'Memory', exact: true }).click();
    await page.getByRole('heading', { name: 'Memory' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('what keeps somebody out is a sentence, and System is lit where it leads to a file', async () => {
    const { page } = await openTab();
    await page.goto(`${rig().url}/#code=natter_wrong`);
    await page
      .getByRole('alert')
      .getByText(/^\s*\p{Lu}/u)
      .waitFor();
    await page.goto(await rig().link());
    await goTo(page, '#/export');
    const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page]');
    await current.getByText('System').waitFor();
  });

  test('nobody is called by a token, in the audit trail, and no event by a code', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/audit');
    await page
      .locator('.item b', { hasText: /^(by you|by the owner, (on the page|over the API))$/ })
      .first()
      .waitFor();
    expect(await page.locator('.item b', { hasText: 'token:' }).count()).toBe(0);
    await page.getByLabel('Who, what, or a session').fill('no such words');
    await page.getByText('What happened in sessions is in Events.').getByRole('link', { name: 'Events' }).waitFor();
    await goTo(page, `#/events?key=${encodeURIComponent(main)}`);
    const failed = page.locator('.event-row', { hasText: 'answer failed' });
    await failed.locator('.event-text', { hasText: /^the message asked/ }).waitFor();
    await failed.click();
    await page.locator('.cause-stage', { hasText: /^failed$/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('events stand still while paused, go by the filter in the address, and lead from the message to the end', async () => {
    const { page, faults } = await open();
    await goTo(page, `#/events?key=${encodeURIComponent(main)}&type=talk`);
    const rows = page.locator('.event-row');
    await rows.filter({ hasText: 'assistant message' }).first().waitFor();
    await rows.first().locator('.event-key').getByText(hostile, { exact: true }).waitFor();
    expect(await rows.filter({ hasText: 'model step' }).count()).toBe(0);
    // As it is typed: a name or a key, or a part of one.
    const session = page.getByLabel('Session, by its name or key');
    await session.pressSequentially('-no-such');
    await page.getByRole('heading', { name: 'No matching events' }).waitFor();
    await session.fill('img src');
    await rows.filter({ hasText: 'assistant message' }).first().waitFor();
    await session.fill(hostile);
    await rows.filter({ hasText: 'assistant message' }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await rig().client.sessions.post(main, 'while it stands still', { wait: 30 });
    await page.getByRole('button', { name: /Go on, \d+ new/ }).waitFor();
    expect(await page.getByText('while it stands still').count()).toBe(0);
    await page.getByRole('button', { name: /Go on/ }).click();
    await rows.filter({ hasText: 'while it stands still' }).first().waitFor();
    await page.getByLabel('Newest first').focus();
    await page.keyboard.press('ArrowDown');
    const stages = page.locator('.cause-stage');
    await stages.filter({ hasText: 'answer' }).waitFor();
    expect(await stages.allTextContents()).toEqual(expect.arrayContaining(['message', 'started', 'step 1', 'answer', 'done']));
    const id = new URL(page.url().replace('#/', '')).searchParams.get('id');
    await page.keyboard.press('ArrowDown');
    await vi.waitFor(() => expect(new URL(page.url().replace('#/', '')).searchParams.get('id')).not.toBe(id), soon);
    // A stage that the filter hides is shown all the same, and the filter can be lifted.
    await stages.filter({ hasText: 'started' }).click();
    await page.locator('.event-detail h2', { hasText: 'answer started' }).waitFor();
    const hint = page.getByText('The filter hides this event in the list.', { exact: false });
    await hint.waitFor();
    await page.getByRole('button', { name: 'Lift the filter' }).click();
    await rows.and(page.locator('[aria-current]')).filter({ hasText: 'answer started' }).waitFor();
    expect(await hint.count()).toBe(0);
    // What the buttons say changes, and moves none of them.
    const pause = page.getByRole('button', { name: 'Pause' });
    const before = await pause.boundingBox();
    await page.getByRole('button', { name: 'From the beginning' }).click();
    await page.getByRole('button', { name: 'To the newest' }).waitFor();
    expect([await pause.isDisabled(), await pause.boundingBox()]).toEqual([true, before]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.getByLabel('Kind').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Filters (1)' }).click();
    await page.getByLabel('Kind').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('every metric has its place from the first moment on, with what the gateway has kept of it', async () => {
    const { page, faults } = await open();
    const at = Array.from({ length: 90 }, (_, sample) => Date.now() - 10_000 * (90 - sample));
    const kept = { at, series: { natter_sessions_resident: at.map((_, sample) => sample % 7) } };
    await page.route('**/v1/metrics/history', (route) => route.fulfill({ json: kept }));
    await goTo(page, '#/system/metrics');
    const names = page.locator('.metric-name');
    await names.first().waitFor();
    const first = await names.allTextContents();
    await page.getByText('The last 15 minutes of the process', { exact: false }).waitFor();
    await page
      .locator('.metric', { hasText: 'Requests a second' })
      .getByText(/^calls to the gateway\s*peak \d/)
      .waitFor();
    expect(await names.allTextContents()).toEqual(first);
    const resident = page.locator('.metric', { hasText: 'Sessions in memory' });
    await resident.getByText(/peak \d+ at \d/).waitFor();
    expect(await resident.locator('.metric-times').textContent()).toMatch(/^\d\d:\d\d.* now$/);
    const line = resident.locator('polyline');
    await vi.waitFor(async () => expect((await line.getAttribute('points'))?.split(' ').length).toBeGreaterThan(85), soon);
    expect(faults).toEqual([]);
  });

  test('a dead letter says before the click that it would be a repeat, and is discarded with a reason that is audited', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/dead-letters');
    const letter = page.locator('.item').filter({ has: page.getByRole('heading', { name: hostile }) });
    const session = page.locator('.item-facts').getByRole('link', { name: hostile, exact: true });
    await vi.waitFor(async () => expect(await session.count()).toBe(2), soon);
    expect(await session.first().getAttribute('href')).toBe(`${ofMain}/chat`);
    await letter.getByRole('button', { name: 'Send again…' }).click();
    await page.getByRole('dialog').getByText('That would not be a repeat', { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    await letter.getByText('Its message').click();
    await letter.getByText('That would not be a repeat', { exact: false }).waitFor();
    await letter.getByRole('button', { name: 'Discard…' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('a test');
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await vi.waitFor(async () => expect(await letter.count()).toBe(0), soon);
    await goTo(page, '#/system/audit?kind=dead_letter_discarded');
    await page.locator('.item').getByText('a test', { exact: false }).waitFor();
    expect(faults).toEqual([]);
  });

  test('cells become another host’s as soon as it says that it has them', async () => {
    const { page, faults } = await open();
    // One host has all of them: that is said, and a map of it would say nothing.
    await goTo(page, '#/system/hosts');
    await page.getByText(/All 4 partitions are on one host, session-1/).waitFor();
    expect(await page.locator('.cell').first().isVisible()).toBe(false);
    await goTo(page, `#/system/hosts?key=${encodeURIComponent(main)}`);
    await page.locator('.cell-marked').waitFor();
    expect(await page.locator('.cells .cell-1').count()).toBe(0);
    const held = [{ since: Date.now() + 60_000, partitions: [0, 1] }];
    const service = { name: 'session', problems: [], warnings: [hostile], metrics: {}, held };
    const report = {
      v: 1,
      process: 'session-2',
      version: '1',
      startedAt: Date.now(),
      at: Date.now(),
      services: [service],
    } as const;
    await rig().ports.presence.tell(report);
    await vi.waitFor(async () => expect(await page.locator('.cells .cell-1').count()).toBe(2), soon);
    await page.getByText('different versions', { exact: false }).waitFor();
    expect(faults).toEqual([]);
    await rig().ports.presence.leave('session-2');
  });

  test('an exported file is looked at without a gateway: verified, folded, and told where it is damaged', async () => {
    const lines: string[] = [];
    for await (const line of exportLines(rig().client, main, new Date().toISOString())) lines.push(JSON.stringify(line));
    const { page, faults } = await openTab(1_000);
    await page.goto(`${rig().url}/#/export`);
    const field = page.getByLabel('A file that natter export wrote');
    await field.waitFor();
    await page.route(/\/v1\//, (asked) => asked.abort());
    const give = (name: string, given: readonly string[]) =>
      field.setInputFiles({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(`${given.join('\n')}\n`) });
    await give('main.jsonl', lines);
    await page.getByText(/^Whole: \d+ commits$/).waitFor();
    await page.getByText(/^Checked: the digest of each commit’s bytes, .* Not checked: who wrote the file\./).waitFor();
    expect(await page.locator('.session-head option').allTextContents()).toEqual([hostile]);
    await page.getByText('End of the file').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Next error' }).waitFor();
    await page.getByRole('button', { name: 'Previous error' }).click();
    await page.locator('.happened').getByText('answer failed').waitFor();
    expect(await page.getByRole('button', { name: /^Fork (from|with) / }).count()).toBe(0);
    await page.getByRole('link', { name: 'Transcript' }).click();
    await page.locator('.line').first().waitFor();
    await page.getByRole('button', { name: 'Another file' }).click();
    const commits: string[] = [];
    for await (const commit of rig().client.sessions.export(main)) commits.push(JSON.stringify(commit));
    await give('download.jsonl', commits);
    await page.locator('.export-unverified', { hasText: 'whether they were changed was not checked' }).waitFor();
    await page
      .getByText(
        /^Checked: that no commit is missing .* Not checked: .* the digests on its lines are not enough: they are those of stored bytes, /,
      )
      .waitFor();
    await page.getByRole('button', { name: 'Another file' }).click();
    await give('cut.jsonl', [...lines.slice(0, 2), ...lines.slice(3)]);
    await page.getByText(/Damaged: line \d+: revs 2 to 2 are missing/).waitFor();
    expect(faults).toEqual([]);
  });
});
