import { randomBytes } from 'node:crypto';

/** Letters and digits that nobody takes for one another, in print or aloud. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** The id of an approval: eight characters to type, one of a million million. */
export const randomApprovalId = (): string => Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join('');
