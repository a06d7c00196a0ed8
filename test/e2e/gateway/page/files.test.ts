import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { png } from '../../../support/files.ts';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage, wrongIn } from './use-page.ts';

/** Files in the chat: those that came with messages, and those that somebody sends. */

const soon = { timeout: 30_000, interval: 50 };
const place = (key: string, tab = 'chat'): string => `#/sessions/${encodeURIComponent(key)}/${tab}`;
const hostileName = '<img src=x onerror=alert(1)>\u202egnp.html';
const script = '<html><script>document.title = "taken over"</script><img src="x" onerror="alert(1)"></html>';
const drawing = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface GivenFile {
  readonly name: string;
  readonly type: string;
  readonly data: string;
}
const picture: GivenFile = { name: 'dot.png', type: 'image/png', data: png.toString('base64') };
const note: GivenFile = { name: 'note.txt', type: 'text/plain', data: base64('a line') };

describe.skipIf(!hasBrowser)('files in the chat', () => {
  const shown = 'agent:main:shown';
  const { rig, open } = usePage({}, async ({ client: { sessions } }) => {
    const hostile = [
      { name: hostileName, type: 'text/html', data: base64(script) },
      { name: 'drawing.svg', type: 'image/svg+xml', data: base64(drawing) },
    ];
    await sessions.post(shown, { text: 'look at these', attachments: [picture, note, ...hostile] }, { wait: 30 });
  });
  test('shows a picture, and lets every other file be saved, whatever is in it', async () => {
    const { page, faults } = await open();
    page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
    expect(await wrongIn(page, place(shown), '.file-preview img')).toEqual([]);
    const image = page.getByRole('img', { name: 'dot.png' });
    await vi.waitFor(
      async () => expect(await image.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth)).toBe(1),
      soon,
    );
    expect(await page.locator('.file-preview').count()).toBe(1);
    await page.locator('.file', { hasText: 'image/png, 68 bytes' }).waitFor();
    await page.locator('.file', { hasText: /note\.txt.*text\/plain, 6 bytes/ }).waitFor();
    for (const [name, saved, content] of [
      ['note.txt', 'note.txt', 'a line'],
      [/^Download _img/, '_img src=x onerror=alert(1)_ gnp.html', script],
      ['drawing.svg', 'drawing.svg', drawing],
    ] as const) {
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: typeof name === 'string' ? `Download ${name}` : name }).click();
      const download = await coming;
      expect(download.suggestedFilename()).toBe(saved);
      expect(readFileSync(await download.path(), 'utf8')).toBe(content);
    }
    expect(await page.title()).not.toBe('taken over');
    expect(await page.locator('.file img').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('says of a file that is gone that it is', async () => {
    const key = 'agent:main:gone';
    await rig().client.sessions.post(key, { text: 'look', attachments: [picture, note] }, { wait: 30 });
    for (const stored of await rig().ports.attachments.of(key as never)) await rig().ports.attachments.remove(stored);
    const { page, faults } = await open();
    await goTo(page, place(key));
    await page.locator('.file', { hasText: /This file is gone.*dot\.png/ }).waitFor();
    await page.getByRole('button', { name: 'Download note.txt' }).click();
    await page.locator('.file', { hasText: /note\.txt.*This file is gone/ }).waitFor();
    expect(faults).toEqual([]);
  });
});
