import { NatterError } from '../../kit/errors.ts';
import { oneLine, quoted } from '../../kit/one-line.ts';

/**
 * Pairing (D8): on a channel with `dmPolicy: pairing` a stranger gets a code, and may write once the owner has approved it. The
 * rules, pure: codes and times come from outside.
 */

/** A stranger who waits for the owner. `inboundId`: the message that was answered with the code. Times in ms. */
export interface PairingRequest {
  readonly code: string;
  readonly senderId: string;
  readonly name?: string;
  readonly inboundId: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  /** The owner said no. Until it expires, the stranger gets no other code. */
  readonly denied?: true;
}
/** A sender who may write direct messages. `by`: the actor who approved the code. */
export interface PairedSender {
  readonly senderId: string;
  readonly name?: string;
  readonly code: string;
  readonly pairedAt: number;
  readonly by: string;
}
/** Everything about the strangers of one channel. */
export interface ChannelPairing {
  readonly v: 1;
  readonly channel: string;
  readonly requests: readonly PairingRequest[];
  readonly paired: readonly PairedSender[];
}

/** Strangers of a channel who wait at a time, the life of their codes, paired senders, and wrong codes of one caller a minute. */
export const pairingLimits = { requests: 3, minutes: 60, senders: 500, guessesPerMinute: 10 } as const;

/** Without letters and digits that look alike. */
export const pairingAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
export const pairingCodeCharacters = 8;

/** A code as people type it: in any case. */
export const pairingCodeOf = (text: string): string => text.trim().toUpperCase();

export const nobodyPaired = (channel: string): ChannelPairing => ({ v: 1, channel, requests: [], paired: [] });

/** A change of the record, `null` if it stays, and what to say of it. */
export interface PairingChange<T> {
  readonly record: ChannelPairing | null;
  readonly result: T;
}

const isOpen =
  (now: number) =>
  ({ expiresAt }: PairingRequest): boolean =>
    expiresAt > now;

/** The requests that wait for the owner. */
export const waitingRequests = ({ requests }: ChannelPairing, now: number): PairingRequest[] =>
  requests.filter((request) => isOpen(now)(request) && !request.denied);

/** What a direct message of a stranger leads to: it passes, its sender is told a code, or nothing is said, for a reason. */
export type Admission =
  | { readonly kind: 'paired' }
  | { readonly kind: 'told'; readonly code: string }
  | { readonly kind: 'silent'; readonly why: string };

export type Stranger = Pick<PairingRequest, 'code' | 'senderId' | 'name' | 'inboundId'>;

/** A stranger is told a code once, also if the same message comes again; beyond so many strangers nobody else is told one. */
export const admit = (record: ChannelPairing, stranger: Stranger, now: number): PairingChange<Admission> => {
  const { senderId, inboundId } = stranger;
  const silent = (why: string): PairingChange<Admission> => ({ record: null, result: { kind: 'silent', why } });
  if (record.paired.some((paired) => paired.senderId === senderId)) return { record: null, result: { kind: 'paired' } };
  const open = record.requests.filter(isOpen(now));
  const known = open.find((request) => request.senderId === senderId);
  if (known?.inboundId === inboundId && !known.denied) return { record: null, result: { kind: 'told', code: known.code } };
  if (known !== undefined)
    return silent(known.denied ? 'the owner has denied this sender' : 'this sender has a code and is not approved yet');
  if (waitingRequests(record, now).length >= pairingLimits.requests)
    return silent(`${pairingLimits.requests} strangers wait for the owner already`);
  const request = { ...stranger, requestedAt: now, expiresAt: now + pairingLimits.minutes * 60_000 };
  return { record: { ...record, requests: [...open, request] }, result: { kind: 'told', code: stranger.code } };
};

/**
 * Approves the stranger with this code; `null` if there is none. The same code again changes nothing. Throws
 * `NatterError('overloaded')` if too many are approved.
 */
export const approve = (
  record: ChannelPairing,
  { code: said, by, now }: { readonly code: string; readonly by: string; readonly now: number },
): PairingChange<PairedSender | null> => {
  const code = pairingCodeOf(said);
  const known = record.paired.find((paired) => paired.code === code);
  const request = waitingRequests(record, now).find((waiting) => waiting.code === code);
  if (request === undefined) return { record: null, result: known ?? null };
  if (record.paired.length >= pairingLimits.senders) {
    const fix = 'revoke one, or let people in by allowFrom';
    throw new NatterError('overloaded', `${record.channel} has ${pairingLimits.senders} paired senders; ${fix}`);
  }
  const { senderId, name } = request;
  const sender = { senderId, ...(name !== undefined && { name }), code, pairedAt: now, by };
  const requests = record.requests.filter((each) => each !== request && isOpen(now)(each));
  return { record: { ...record, requests, paired: [...record.paired, sender] }, result: sender };
};

/** Denies the stranger with this code; `null` if there is none. */
export const deny = (record: ChannelPairing, said: string, now: number): PairingChange<PairingRequest | null> => {
  const code = pairingCodeOf(said);
  const request = waitingRequests(record, now).find((waiting) => waiting.code === code);
  if (request === undefined) return { record: null, result: null };
  const requests = record.requests.map((each) => (each === request ? { ...each, denied: true as const } : each));
  return { record: { ...record, requests: requests.filter(isOpen(now)) }, result: request };
};

/** Takes the approval back; `null` if the sender has none. */
export const revoke = (record: ChannelPairing, senderId: string): PairingChange<PairedSender | null> => {
  const sender = record.paired.find((paired) => paired.senderId === senderId);
  if (sender === undefined) return { record: null, result: null };
  return { record: { ...record, paired: record.paired.filter((paired) => paired !== sender) }, result: sender };
};

/** What a stranger is told. */
export const pairingNotice = (code: string): string =>
  `I do not know you yet, and your message was not kept. Ask the owner to approve the code ${code}; it is valid for ${pairingLimits.minutes} minutes. Then write again.`;

/** What the owner is told after `/pair`. The sender chose the name and perhaps the id. */
export const approvalNotice = (approved: (PairedSender & { readonly channel: string }) | null): string => {
  if (approved === null) return 'Nothing was approved: no such code waits. See "natter pairing list".';
  const { channel, senderId, name } = approved;
  return `Approved: ${oneLine(`${channel}:${senderId}`)}${name === undefined ? '' : ` (${quoted(name)})`} may write to me now.`;
};
