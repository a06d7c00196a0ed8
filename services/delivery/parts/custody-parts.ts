import { createHash } from 'node:crypto';
import type { CustodyParts, CustodyRecord, Outbound } from '../../../shared/ports/custody-log.ts';
import type { OutboundPart, PartLimit } from '../../../shared/ports/outlet.ts';
import { cutsOf, partsOf } from './cut.ts';
import { plainTextOf } from './plain-text.ts';

/** What custody says of an outbound. */
export type Custody = Omit<CustodyRecord, 'v' | 'outboundId' | 'outboundSeq' | 'key' | 'target' | 'at' | 'by'>;

/** The custody of a text that an outlet with this limit takes in several parts; nothing if it takes it in one. */
export const cutInto = (text: string, limit: PartLimit | undefined): { parts?: CustodyParts } => {
  const cuts = limit === undefined ? [] : cutsOf(text, limit);
  return cuts.length === 0 ? {} : { parts: { cuts, digest: digestOf(partsOf(text, cuts)), done: [] } };
};

const digestOf = (parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Whether the parts of which custody was taken are of another text. */
export const hasOtherText = ({ parts }: Pick<Custody, 'parts'>, text: string): boolean =>
  parts !== undefined && digestOf(partsOf(text, parts.cuts)) !== parts.digest;

/** The text of the part in hand, as it was written. */
export const partIn = (text: string, parts: CustodyParts | undefined): string =>
  parts === undefined ? text : (partsOf(text, parts.cuts)[parts.done.length] ?? '');

/** What was not sent for certain, as one text: the parts that were refused, and everything from the part in hand on. */
export const unsentText = (text: string, parts: CustodyParts | undefined): string => {
  const last = parts?.cuts[parts.done.length - 1];
  if (parts === undefined || parts.done.length === 0) return text;
  const written = partsOf(text, parts.cuts);
  const refused = (parts.refused ?? []).map((index) => written[index] ?? '');
  const rest = last === undefined ? '' : `${last.fence === undefined ? '' : `${last.fence}\n`}${text.slice(last.next)}`;
  return [...refused, rest].filter((each) => each !== '').join('\n\n');
};

/** What the outlet gets: the part in hand, in the form that it has. */
export const outboundPart = (outbound: Outbound, { parts, form }: Pick<Custody, 'parts' | 'form'>): OutboundPart => {
  const written = partIn(outbound.text, parts);
  const plain = form === 'plain' ? { plain: true as const } : {};
  const text = form === 'plain' ? plainTextOf(written) : written;
  if (parts === undefined) return form === undefined ? outbound : { ...outbound, text, ...plain };
  const part = { index: parts.done.length + 1, count: parts.cuts.length + 1 };
  const shown = form === 'mark' ? `[Part ${part.index} of ${part.count} could not be sent.]` : text;
  return { ...outbound, id: `${outbound.id}.p${part.index}`, text: shown, part, ...plain };
};
