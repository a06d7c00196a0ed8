import { z } from 'zod';
import { codecOf } from './records.ts';

/** How far a person has read a session: the sequence alone. Of whom and of what it is, only the name of the mark says, as a hash. */
export const readMarkCodec = codecOf(z.int().min(0));
