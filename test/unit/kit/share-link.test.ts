import { expect, test } from 'vitest';
import { fragmentOfLink, tokenOfLink } from '../../../shared/kit/text/share-link.ts';

const token = 'a1b2c3d4e5f6.natter_x-Y_0';

test.each([
  ['a link', fragmentOfLink(token), token],
  ['a one-time code', '#code=natter_x', undefined],
  ['a place in the page', '#/sessions/share=x', undefined],
  ['a token that is kept by itself', token, undefined],
  ['nothing', '#share=', undefined],
])('the token in the address of %s', (_, fragment, expected) => {
  expect(tokenOfLink(fragment)).toBe(expected);
});
