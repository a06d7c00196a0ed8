import { expect, test } from 'vitest';
import { asSentence, plainText } from '../../../../services/page/parts/one-line.ts';

/** Lines that show the beginning of a text. */

test.each([
  ['**two** __marks__ and ~~one~~', 'two marks and one'],
  ['# Title\n> quoted', 'Title\nquoted'],
  ['see [the page](https://example.org/a_b) and ![a picture](x.png)', 'see the page and a picture'],
  ['`**kept**` but **gone**', '**kept** but gone'],
  ['2 ** 3 ** 4, a_b_c and *.ts', '2 ** 3 ** 4, a_b_c and *.ts'],
])('Markdown without its marks: %s', (text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test.each([
  ['the gateway does not answer; is it running?', 'The gateway does not answer; is it running?'],
  ['gateway.token is short', 'gateway.token is short'],
  ['Whole', 'Whole'],
  ['', ''],
])('as a sentence of its own: %s', (text, sentence) => {
  expect(asSentence(text)).toBe(sentence);
});
