import { describe, expect, test, vi } from 'vitest';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** Where somebody stood and the page led no further, or said what was not so. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string, tab: string): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;
const [failing, theirs, other] = ['agent:main:failing', 'agent:main:theirs', 'agent:main:other'];
const group = 'agent:main:telegram:group:-100' as SessionKey;

describe.skipIf(!hasBrowser)('who stands before a dead end', () => {
  const { rig, open } = usePage({}, async ({ client: { sessions }, ports }) => {
    const ann = { sender: { id: 'telegram:1001', name: 'Ann' }, deliverTo: { channel: 'telegram', to: '1001' } };
    await sessions.post(other, 'a wren', { wait: 30 });
    await sessions.post(group, { text: 'a finch', ...ann }, { wait: 30 });
    await sessions.post(failing, '[[fail busy]] now', { wait: 30 });
    await sessions.post(theirs, { text: '[[fail busy]] please', ...ann }, { wait: 30 });
    const letter = { id: 'x', service: 'session', reason: 'it cannot be read', subject: 'natter.command.0', at: Date.now() };
    await ports.deadLetters.put({ ...letter, bytes: new Uint8Array([0xc1]) });
  });

  test('an address of no view says so, and leads on', async () => {
    const { page, faults } = await open();
    for (const [address, link] of [
      ['#/nonsense', 'All sessions'],
      ['#/constructor', 'All sessions'],
      ['#/system/nonsense', 'System'],
      [place(other, 'nonsense'), 'Open the chat'],
    ] as const) {
      expect(await wrongIn(page, address, '.empty h1:text-is("There is no such view")')).toEqual([]);
      await page.getByRole('main').locator('.empty').getByRole('link', { name: link }).click();
      await page.getByRole('heading', { name: 'There is no such view' }).waitFor({ state: 'detached' });
    }
    expect(faults).toEqual([]);
  });

  test('the time machine of a key that cannot be says what is wrong with it, and nothing else', async () => {
    const { page, faults } = await open();
    await goTo(page, place('agent:main:a b', 'time'));
    await page.locator('.past').getByRole('alert').waitFor();
    expect(await page.locator('.past').getByText('Reading').count()).toBe(0);
    expect(await page.locator('.scrubber, .moment').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the moment before an error is shown beside the same list, and a reset is offered where no fork is', async () => {
    const { page, faults } = await open();
    await goTo(page, `${place(failing, 'chat')}?status=failed`);
    await page.locator('.mark-bad').getByRole('link', { name: 'Show the moment before' }).click();
    await page.locator('.live', { hasText: 'earlier commit' }).waitFor();
    await page.getByRole('button', { name: 'Next error' }).click();
    await page.getByText('It was the first message: a reset begins without it.').waitFor();
    expect(page.url()).toContain('status=failed');
    // Nothing but a reset begins anew from before the first commit either.
    const reset = { name: 'Reset this session…', exact: true };
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.locator('.moment-actions').getByRole('button', reset).waitFor();
    await page.getByRole('button', { name: 'Next error' }).click();
    await page.locator('.moment-error').getByRole('button', reset).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The agent no longer knows what was said here', { exact: false }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Reset' }).click();
    await vi.waitFor(async () => expect((await rig().client.sessions.get(failing)).generation).toBe(2), soon);
    await goTo(page, place(failing, 'chat'));
    await page.getByText('Reset by you: asked for on the page.', { exact: false }).waitFor();
    await page.locator('.why').getByText('Reset by you,', { exact: false }).waitFor();
    await goTo(page, `${place(failing, 'chat')}?status=failed&q=zebra`);
    await page.getByText('No session is found by “Last answer failed” and the words “zebra”.').waitFor();
    await page.getByRole('link', { name: 'answers that failed' }).click();
    await page.locator('.event-row', { hasText: 'answer failed' }).first().waitFor();
    expect(faults).toEqual([]);
  });

  test('of an answer to somebody else that failed the page says who can ask again', async () => {
    const { page, faults } = await open();
    await goTo(page, place(theirs, 'chat'));
    await page.locator('.mark-actions').getByText('Only its sender can ask this again.').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a deletion counts what it deletes, and names what is kept', async () => {
    const { page, faults } = await open();
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    // Unread is said while sessions are chosen as well.
    await page.locator('.row-choice .row-text .row-new').first().waitFor();
    await page.getByRole('button', { name: 'Labels…' }).click();
    await page.getByRole('button', { name: 'Remove labels' }).waitFor();
    const bulk = page.locator('.bulk');
    const dialog = page.getByRole('dialog');
    await page.locator('a.row', { hasText: 'a finch' }).click();
    await bulk.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('heading', { name: 'None of them can be deleted' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('a.row', { hasText: 'a wren' }).click();
    await bulk.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('heading', { name: 'Delete 1 session?' }).waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['other', 'telegram:group:-100']);
    await dialog.getByText('It leaves the lists and the search, ', { exact: false }).waitFor();
    await dialog.getByText('this one is kept', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await bulk.getByText('1 deleted.').waitFor();
    // The row goes when the gateway hears of the deletion, which may be after its answer.
    await page.locator('a.row', { hasText: 'a wren' }).waitFor({ state: 'detached' });
    await page.getByLabel('Select', { exact: false }).and(page.locator(':checked')).waitFor();
    await page.keyboard.press('Escape');
    // By touch nobody sees a title.
    await goTo(page, place(group, 'chat'));
    await page.locator('.session-actions').getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('Archive the session instead.', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('.session-actions').getByRole('button', { name: 'Archive', exact: true }).click();
    const done = page.locator('.act-done', { hasText: /^Archived\. A new message brings it back\.$/ });
    await done.waitFor();
    expect(await done.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the system says where something is to be looked at, and what is done about it', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/system/dead-letters');
    const menu = page.getByRole('navigation', { name: 'System' });
    await menu.getByRole('link', { name: /^Dead letters\s*1 to look at/ }).waitFor();
    await menu.getByRole('link', { name: /^Doctor\s*\d+ to look at/ }).waitFor();
    const letter = page.locator('.item', { hasText: 'it cannot be read' });
    await letter.getByRole('button', { name: 'Discard…' }).waitFor();
    await letter.getByRole('button', { name: 'Send again…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It cannot be sent again', { exact: false }).waitFor();
    expect(await dialog.getByRole('button').allTextContents()).toEqual(['Close']);
    await goTo(page, '#/system/doctor');
    const answers = page.locator('.item', { hasText: 'Whether the agent comes to an answer' });
    await answers.locator('code', { hasText: /^natter tail --from 1 --type turn_failed$/ }).waitFor();
    await answers.getByRole('link', { name: 'The sessions whose last answer failed' }).click();
    await page.locator('a.row', { hasText: 'please' }).waitFor();
    expect(page.url()).toContain('status=failed');
    expect(faults).toEqual([]);
  });

  test('the channels in use are named, and the file that holds the configuration', async () => {
    const { page, faults } = await open();
    const file = '/etc/natter/home.json5';
    await page.route('**/v1/config', (asked) => asked.fulfill({ json: { file, keys: [], processes: [] } }));
    await goTo(page, '#/system/channels');
    await page.getByText('In use: telegram').waitFor();
    await page.getByText(`Put this line between the outer braces of the file ${file}:`).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
