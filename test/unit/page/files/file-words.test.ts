import { expect, test } from 'vitest';
import { fileName, sizeText } from '../../../../services/page/files/file-words.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, '1023 bytes'],
  [1_536, '1.5 kB'],
  [12 * 1024, '12 kB'],
  [3 * 1024 ** 2, '3.0 MB'],
  [50 * 1024 ** 4, '51200 GB'],
])('%i is %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test.each([
  ['a b.txt', 'a b.txt'],
  [undefined, 'file'],
  ['..', 'file'],
  ['/etc/passwd', 'passwd'],
  ['C:\\Windows\\a.exe', 'a.exe'],
  ['.bashrc', 'bashrc'],
  ['a\u202egnp.html', 'a gnp.html'],
  ['<b>"x"|?*:y', '_b_x_y'],
  ['line\nbreak.txt', 'line break.txt'],
  [`${'ä'.repeat(300)}.txt`, `${'ä'.repeat(96)}.txt`],
])('%j is saved as %s', (name, saved) => {
  expect(fileName({ name })).toBe(saved);
});
