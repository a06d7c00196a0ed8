import { readFileSync } from 'node:fs';
import type { JSHandle, Page } from 'playwright-core';
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

/** What the browser has, and the types of Node do not. */
declare const DataTransfer: new () => { readonly items: { add(file: File): void } };
declare const DragEvent: new (type: string, init: object) => object;
declare const ClipboardEvent: typeof DragEvent;
interface Target {
  readonly ownerDocument: { querySelectorAll(selector: string): { readonly length: number } };
  dispatchEvent(event: object): boolean;
}

/** Files as the clipboard and a drop have them. */
const transferOf = (page: Page, files: readonly GivenFile[]): Promise<JSHandle<object>> =>
  page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, type, data } of given)
      transfer.items.add(new File([Uint8Array.from(atob(data), (each) => each.charCodeAt(0))], name, { type }));
    return transfer;
  }, files);

/** Drops files onto what a selector finds, and tells whether the page kept the browser from opening them, and showed where it takes them. */
const drop = async (page: Page, selector: string, files: readonly GivenFile[], isTaken = true): Promise<boolean> => {
  const transfer = await transferOf(page, files);
  const given = { transfer, isTaken };
  return page.locator(selector).evaluate((found, { transfer: dataTransfer, isTaken }) => {
    const element = found as unknown as Target;
    const event = (type: string) => new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer });
    const isOver = !element.dispatchEvent(event('dragover'));
    const marks = () => element.ownerDocument.querySelectorAll('[data-takes-files]').length;
    const marked = marks();
    const isDropped = !element.dispatchEvent(event('drop'));
    return isOver && isDropped && marks() === 0 && (!isTaken || marked === 1);
  }, given);
};

describe.skipIf(!hasBrowser)('files in the chat', () => {
  const shown = 'agent:main:shown';
  const sent = 'agent:main:sent';
  const { rig, openTab, open } = usePage({}, async ({ client: { sessions } }) => {
    const hostile = [
      { name: hostileName, type: 'text/html', data: base64(script) },
      { name: 'drawing.svg', type: 'image/svg+xml', data: base64(drawing) },
    ];
    await sessions.post(shown, { text: 'look at these', attachments: [picture, note, ...hostile] }, { wait: 30 });
    await sessions.post(sent, 'hello', { wait: 30 });
  });
  const filesOf = async (key: string) => {
    const all = [];
    for await (const { text, attachments = [] } of rig().client.sessions.messages(key))
      all.push([text, ...attachments.map(({ name }) => name)]);
    return all;
  };

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

  test('sends what is chosen, pasted and dropped, but not what was removed', async () => {
    const { page, faults } = await open();
    await goTo(page, place(sent));
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await choosing).setFiles([
      { name: 'chosen.txt', mimeType: 'text/plain', buffer: Buffer.from('chosen') },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('wrong') },
    ]);
    const field = page.getByLabel('Message');
    const transfer = await transferOf(page, [picture]);
    await field.evaluate((found, clipboardData) => {
      (found as unknown as Target).dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }));
    }, transfer);
    expect(await drop(page, '.messages', [note])).toBe(true);
    const chosen = page.getByRole('list', { name: 'Files to send' });
    expect(await chosen.locator('.file-name').allTextContents()).toEqual(['chosen.txt', 'wrong.txt', 'dot.png', 'note.txt']);
    await page.getByText('A message with files cannot be sent later.', { exact: true }).waitFor();
    const later = page.getByRole('button', { name: 'Send later', description: 'A message with files cannot be sent later.' });
    expect(await later.isDisabled()).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    // The focus is in the field again.
    await page.keyboard.type('what is it?');
    await page.keyboard.press('Enter');
    const got = '[Attached: chosen.txt, text/plain, 6 bytes; dot.png, image/png, 68 bytes; note.txt, text/plain, 6 bytes]';
    await page.locator('.said-assistant', { hasText: got }).waitFor();
    await page.locator('.said-user .file-preview img').waitFor();
    expect(await chosen.count()).toBe(0);
    expect(await filesOf(sent)).toContainEqual(['what is it?', 'chosen.txt', 'dot.png', 'note.txt']);
    // A file needs no words.
    expect(await drop(page, '.messages', [note])).toBe(true);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await vi.waitFor(async () => expect(await filesOf(sent)).toContainEqual(['', 'note.txt']), soon);
    expect(faults).toEqual([]);
  });

  test('keeps the files of a message when it is edited and sent again', async () => {
    const key = 'agent:main:again';
    const { sessions } = rig().client;
    await sessions.post(key, 'hello', { wait: 30 });
    const { page, faults } = await open();
    await goTo(page, place(key));
    expect(await drop(page, '.messages', [note])).toBe(true);
    await page.getByLabel('Message').fill('look');
    await page.keyboard.press('Enter');
    await page.locator('.said-assistant', { hasText: 'Attached: note.txt' }).waitFor();
    const message = page.locator('.said-user', { hasText: 'look' });
    await message.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Its files are sent again.').waitFor();
    await page.getByLabel('Edited message').fill('look again');
    await page.getByRole('button', { name: 'Send instead' }).click();
    await page.locator('.said-assistant', { hasText: /look again\s*\[Attached: note\.txt/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('says before it is sent what the gateway would refuse', async () => {
    const { page, faults } = await open();
    await goTo(page, place(sent));
    const field = page.getByLabel('Message');
    await field.fill('take this');
    const send = page.getByRole('button', { name: 'Send', exact: true });
    const refused = async (files: readonly GivenFile[], words: RegExp, marked: readonly string[] = []): Promise<void> => {
      expect(await drop(page, '.messages', files)).toBe(true);
      await page.getByRole('alert').filter({ hasText: words }).waitFor();
      expect(await send.isDisabled()).toBe(true);
      expect(await page.locator('.chosen li', { hasText: 'Refused' }).locator('.file-name').allTextContents()).toEqual(marked);
      expect(await axeFindings(page)).toEqual([]);
      const remove = page.getByRole('button', { name: /^Remove / });
      for (let left = files.length - 1; left >= 0; left--) {
        await remove.first().click();
        await vi.waitFor(async () => expect(await remove.count()).toBe(left), soon);
      }
      expect(await send.isDisabled()).toBe(false);
    };
    await refused(
      [note, { name: 'a.zip', type: 'application/zip', data: base64('x') }],
      /attachments: a\.zip is of type application\/zip; those taken are image\/\*.*until what is refused is removed/,
      ['a.zip'],
    );
    await refused([{ ...note, data: '' }], /note\.txt has no content/, ['note.txt']);
    await refused(
      Array.from({ length: 9 }, () => note),
      /has 9 files; send at most 8.*until some are removed/,
    );
    await refused([{ ...note, data: base64('x'.repeat(11 * 1024 * 1024)) }], /its files have 11\.0 MB; send at most 10 MB/, [
      'note.txt',
    ]);
    expect(faults).toEqual([]);
  });

  test('keeps files that could not be sent, and sends them once that is possible', async () => {
    const { page, faults } = await open();
    await goTo(page, place(sent));
    await page.route('**/messages', (route) => route.fulfill({ status: 403, json: { code: 'forbidden', detail: 'not today' } }));
    expect(await drop(page, '.messages', [note])).toBe(true);
    await page.getByLabel('Message').fill('and this');
    await page.keyboard.press('Enter');
    const outgoing = page.locator('.said-outgoing', { hasText: /not sent.*and this.*With note\.txt.*not today/s });
    await outgoing.waitFor();
    await page.unroute('**/messages');
    await outgoing.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.said-assistant', { hasText: /and this\s*\[Attached: note\.txt/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('keeps what is chosen while other views are open, and says after a reload that it is lost', async () => {
    const { page, faults } = await open();
    await goTo(page, place(sent));
    expect(await drop(page, '.messages', [note])).toBe(true);
    await goTo(page, place(sent, 'transcript'));
    await page.locator('.line').first().waitFor();
    await goTo(page, place(sent));
    await page.getByRole('button', { name: 'Remove note.txt' }).waitFor();
    await page.reload();
    const lost = page.getByText('A reload does not keep files. Choose them again: note.txt.');
    await lost.waitFor();
    await page.getByRole('button', { name: 'Leave them out' }).click();
    expect(await lost.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('takes files nowhere else, and does not let the browser open them', async () => {
    const { page, faults } = await open();
    await goTo(page, '#/events');
    await page.locator('.event-row').first().waitFor();
    expect(await drop(page, 'body', [{ name: 'a.html', type: 'text/html', data: base64(script) }], false)).toBe(true);
    const { code } = await rig().client.post<{ code: string }>('/v1/page/codes', { role: 'read-only' });
    const reader = await openTab();
    await reader.page.goto(`${rig().url}/#code=${code}`);
    await reader.page.getByRole('navigation', { name: 'Main' }).waitFor();
    await goTo(reader.page, place(shown));
    await reader.page.locator('.file-preview img').waitFor();
    expect(await reader.page.getByRole('button', { name: 'Attach files' }).count()).toBe(0);
    expect(await drop(reader.page, '.messages', [note], false)).toBe(true);
    expect(await reader.page.getByText('Files to send').count()).toBe(0);
    // No way leads to a view that would only refuse them, and what is shown asks for nothing that would be refused.
    const refused: string[] = [];
    reader.page.on('response', (response) => response.status() === 403 && refused.push(response.url()));
    await goTo(reader.page, '#/system/schedules');
    const menu = reader.page.getByRole('navigation', { name: 'System' }).locator('li a > span');
    await reader.page.getByRole('heading', { name: 'Nothing waits for its time' }).waitFor();
    expect(await menu.allTextContents()).toEqual(['Hosts', 'Metrics', 'Memory', 'Skills', 'Schedules']);
    expect(refused).toEqual([]);
    expect([...faults, ...reader.faults]).toEqual([]);
  });
});
