import { z } from 'zod';

/** In UTF-16 code units. */
const longest = 32;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** A pictograph with whatever joins it, a flag, or a keycap. */
const emoji = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator}{2}$|[0-9#*]\ufe0f?\u20e3$)/u;

const isIcon = (text: string): boolean => text.length <= longest && emoji.test(text) && [...graphemes.segment(text)].length === 1;

/** The icon that people give a session (B24). */
export const icon = z.string().refine(isIcon, 'use one emoji, such as "🌱"').meta({ description: 'one emoji' });
