import { describe, expect, test } from 'vitest';
import type { ScheduledMessages } from '../../../../shared/client/main.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** What becomes of commands, and of what is to be sent later. */

const place = (key: string): string => `#/sessions/${encodeURIComponent(key)}/chat`;

describe.skipIf(!hasBrowser)('who writes in the chat', () => {
  const key = 'agent:main:web:commands';
  const { rig, open } = usePage({ tools: { exec: { enabled: true } } }, async ({ client: { sessions } }) => {
    await sessions.post(key, 'hello', { wait: 30 });
  });

  test('is told of one that does not exist, keeps it in the field, and sends what looks like one as text', async () => {
    const { page, faults } = await open();
    await goTo(page, place(key));
    const field = page.getByLabel('Message', { exact: true });
    await field.fill('/staus now');
    await page.keyboard.press('Enter');
    const refused = page.getByRole('alert').filter({ hasText: 'There is no command /staus. Did you mean /status?' });
    await refused.waitFor();
    expect(await field.inputValue()).toBe('/staus now');
    expect(await wrongIn(page, place(key), '.composer-refused')).toEqual([]);
    await page.keyboard.press('Backspace');
    await refused.waitFor({ state: 'detached' });
    for (const text of [' /staus now', ' /status', '//staus', '/etc/hosts is what?']) {
      await field.fill(text);
      await page.keyboard.press('Enter');
      await page.locator('.said-user:not(.said-outgoing)', { hasText: text.trim() }).first().waitFor();
    }
    const sent: string[] = [];
    for await (const { role, text } of rig().client.sessions.messages(key)) if (role === 'user') sent.push(text);
    expect(sent).toEqual(['hello', '/staus now', '/status', '//staus', '/etc/hosts is what?']);
    expect(faults).toEqual([]);
  });

  test('sees each above its answer, also after a reload', async () => {
    const { page, faults } = await open();
    await goTo(page, place(key));
    const field = page.getByLabel('Message', { exact: true });
    const answerTo = (command: string) => page.locator('.mark', { has: page.locator('code', { hasText: command }) });
    for (const [command, answer] of [
      ['/name Trip', 'Name: Trip'],
      ['/export', 'Transcript'],
      ['/help', 'the page has buttons'],
    ] as const) {
      await field.fill(command);
      await page.keyboard.press('Enter');
      await answerTo(command).getByText(answer).waitFor();
    }
    await page.reload();
    await answerTo('/name Trip').getByText('Name: Trip').waitFor();
    expect(await answerTo('/help').textContent()).toMatch(/^\/help \d/);
    expect(await wrongIn(page, place(key), '.mark code')).toEqual([]);
    await answerTo('/export').getByRole('link', { name: 'Open the transcript' }).click();
    await page.getByRole('button', { name: 'Download Markdown' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('sends a message later, and is told when and where it is cancelled', async () => {
    const { page, faults } = await open(320);
    await goTo(page, place(key));
    await page.getByLabel('Message', { exact: true }).fill('good morning');
    await page.getByRole('button', { name: 'Send later' }).click();
    const when = page.getByLabel('When, on your clock');
    await when.fill('2020-01-01T10:00');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'That time is over' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const year = new Date().getFullYear() + 1;
    await when.fill(`${year}-06-01T10:00`);
    await page.keyboard.press('Enter');
    const note = page.locator('.composer-later', { hasText: '“good morning” will be sent' });
    await note.waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
    const { messages } = await rig().client.get<ScheduledMessages>('/v1/scheduled-messages');
    expect(messages).toMatchObject([{ sessionKey: key, text: 'good morning', sendAt: new Date(year, 5, 1, 10).getTime() }]);
    await page.reload();
    await note.getByRole('link').click();
    await page.getByText('The message “good morning” will be sent.').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('dialog').locator('.button-danger').click();
    await page.getByText('Cancelled', { exact: true }).first().waitFor();
    await goTo(page, place(key));
    await page.getByLabel('Message', { exact: true }).waitFor();
    expect(await note.count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
