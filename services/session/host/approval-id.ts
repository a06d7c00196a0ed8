import { randomBytes } from 'node:crypto';

/** Letters and digits that are hard to confuse, in print or aloud. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** The id of an approval: eight characters to type, one of about 10^12. */
export const randomApprovalId = (): string => Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join('');
