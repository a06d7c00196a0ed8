import { describe, expect, test, vi } from 'vitest';
import { goTo, hasBrowser, usePage } from '../use-page.ts';

const soon = { timeout: 30_000, interval: 50 };
const chat = (key: string): string => `#/sessions/${encodeURIComponent(key)}/chat`;

describe.skipIf(!hasBrowser)("the browser's Back", () => {
  const key = 'agent:main:robin';
  const { open } = usePage({}, async ({ client: { sessions } }) => {
    await sessions.post(key, 'a robin', { wait: 30 });
    await sessions.post('agent:main:wren', 'a wren', { wait: 30 });
  });
  /** Goes back as the button of the browser does, without waiting for a page to load. */
  const back = (page: Awaited<ReturnType<typeof open>>['page']) => page.evaluate('history.back()');

  test('closes a dialog and stays in the view; once it is closed, it leaves the view as ever', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/account');
    await goTo(page, chat(key));
    const dialog = page.getByRole('dialog');
    const ask = () => page.locator('.session-actions').getByRole('button', { name: 'Delete' }).click();
    for (const _ of [1, 2]) {
      await ask();
      await dialog.waitFor();
      await back(page);
      await dialog.waitFor({ state: 'detached' });
      expect(page.url()).toContain(chat(key));
      await page.locator('.session-actions button:focus', { hasText: 'Delete' }).waitFor();
    }
    // However often it was closed otherwise, one step leads out of the view.
    for (const end of ['Cancel', 'Escape', 'Cancel']) {
      await ask();
      await dialog.waitFor();
      if (end === 'Escape') await page.keyboard.press('Escape');
      else await dialog.getByRole('button', { name: end }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await back(page);
    await page.getByRole('heading', { level: 1, name: 'You' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('ends selecting, after the question about it, and keeps the filter', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/account');
    await goTo(page, '#/sessions');
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await page.getByLabel('Search sessions').fill('wren');
    await vi.waitFor(() => expect(page.url()).toContain('q=wren'), soon);
    await page.locator('a.row', { hasText: 'wren' }).click();
    const { bulk, dialog } = { bulk: page.locator('.bulk'), dialog: page.getByRole('dialog') };
    await bulk.getByRole('button', { name: 'Archive' }).click();
    await dialog.waitFor();
    await back(page);
    await dialog.waitFor({ state: 'detached' });
    await bulk.getByText('1 session selected').waitFor();
    await back(page);
    await bulk.waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/#\/sessions\?q=wren$/);
    await back(page);
    await page.getByRole('heading', { level: 1, name: 'You' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('leads from where the search has led to the view before', async () => {
    const { page, faults } = await open();
    await goTo(page, chat(key));
    await page.locator('.said').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('.palette-field').fill('account');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'You' }).waitFor();
    await back(page);
    await page.locator('.said').first().waitFor();
    expect(page.url()).toContain(chat(key));
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
