import { z } from 'zod';
import { sessionKey } from '../domain/keys/session-key.ts';
import type { ReadMark } from '../ports/access/read-marks.ts';
import { codecOf } from './records.ts';

const readMark = z.object({ person: z.string().min(1), key: sessionKey, seq: z.int().min(0) });

/** How far a person has read a session. */
export const readMarkCodec = codecOf<ReadMark>(readMark);
