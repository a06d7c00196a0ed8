import { expect, test } from 'vitest';
import { asSentence, plainText } from '../../../../services/page/parts/one-line.ts';

/** Lines that show the beginning of a text. */

test.each([
  ['**two** __marks__ and ~~one~~', 'two marks and one'],
  ['# Title\n> quoted', 'Title\nquoted'],
  ['see [the page](https://example.org/a_b) and ![a picture](x.png)', 'see the page and a picture'],
  ['`**kept**` but **gone**', '**kept** but gone'],
  ['2 ** 3 ** 4, a_b_c and *.ts', '2 ** 3 ** 4, a_b_c and *.ts'],
  ['*one*, _two_ and ***three***', 'one, two and three'],
  ['The plan: ## First **this** ### Then `that`', 'The plan: First this Then that'],
  ['```js const one = 1; ``` and so on', 'const one = 1; and so on'],
  ['```js const one = 1; const t…', 'const one = 1; const t…'],
  ['```js\nconst one = 1;\n```\nand so on', 'const one = 1;\nand so on'],
  ['a **cut bol…', 'a cut bol…'],
  ['a `cut cod…', 'a cut cod…'],
  ['…ut bold** and more', '…ut bold and more'],
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
