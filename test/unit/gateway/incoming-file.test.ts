import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { attachedFiles } from '../../../services/cli/attached-files.ts';
import { readFileData } from '../../../services/gateway/attachments/incoming-file.ts';
import { dataUrl, digestOf, pdf, png, wav } from '../../support/files.ts';

test.each([
  ['a data URL', dataUrl('image/png', png), {}, { type: 'image/png', content: png }],
  ['one of an image under another image type', dataUrl('image/jpeg', png), {}, { type: 'image/png' }],
  ['base64 alone, by its first bytes', pdf.toString('base64'), {}, { type: 'application/pdf' }],
  ['base64 with a type, in capitals', wav.toString('base64'), { type: 'Audio/WAV' }, { type: 'audio/wav' }],
  ['base64 in lines', `${'YWFh\n'.repeat(3)}`, { type: 'text/plain' }, { content: Buffer.from('aaaaaaaaa') }],
  ['base64 of URLs', '_-8=', { type: 'text/plain' }, { content: Buffer.from([0xff, 0xef]) }],
  ['bytes of no known kind', 'AAECAw==', {}, { type: 'application/octet-stream' }],
  ['parameters of a type', 'data:text/plain;charset=utf-8;base64,YQ==', {}, { type: 'text/plain' }],
  ['a path for a name', 'YQ==', { name: '/etc/a\u202e\nb.txt' }, { name: 'a b.txt' }],
])('%s is a file', (_, data, told, wanted) => {
  const file = readFileData(data, told);
  expect(file).toMatchObject(wanted);
  if ('content' in file) expect(file.digest).toBe(digestOf(file.content));
});

test.each([
  ['an address', 'https://example.org/a.png', {}, /addresses are not fetched/],
  ['a data URL in plain text', 'data:text/plain,hello', {}, /use a data URL with ";base64,"/],
  ['nothing', 'data:image/png;base64,', {}, /has no content/],
  ['no base64', 'ä', {}, /is not valid base64/],
  ['another kind than it says', dataUrl('application/pdf', png), {}, /is not what its type says, application\/pdf/],
  ['no media type', 'YQ==', { type: 'text' }, /is not one such as "image\/png"/],
])('%s is none', (_, data, told, problem) => {
  expect(readFileData(data, told)).toEqual({ problem: expect.stringMatching(problem) });
});

test('files of `natter send --attach` have their name and the type that it says; one that is not there is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-attach-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [image, other] = [join(folder, 'a.PNG'), join(folder, 'b')];
  writeFileSync(image, png);
  writeFileSync(other, 'x');
  expect(await attachedFiles([image, other])).toEqual([
    { data: png.toString('base64'), name: 'a.PNG', type: 'image/png' },
    { data: 'eA==', name: 'b' },
  ]);
  await expect(attachedFiles([join(folder, 'c')])).rejects.toMatchObject({ code: 'invalid', field: 'attach' });
});
