import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { arrivingEnvelope, type InboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { check } from '../../../shared/wire/codec.ts';
import { mentionOf, parseIrcLine } from './irc.ts';

/** How to read a file. `day` is `YYYY-MM-DD`; without it the messages have no time. */
export interface SourceOptions {
  readonly format: 'irc' | 'jsonl';
  readonly channel: string;
  readonly group: string;
  readonly mention?: string;
  readonly owner?: string;
  readonly day?: string;
}

/** The content of a file: its envelopes in order, and counts of the other lines. */
export interface Source {
  readonly envelopes: readonly InboundEnvelope[];
  readonly lines: number;
  readonly notices: number;
  readonly blank: number;
  /** Lines that were not valid UTF-8; bad bytes became U+FFFD. */
  readonly repaired: number;
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
}

/** The day in a file's name, such as `2006-06-05.log`. */
export const dayOf = (file: string): string | undefined => /(\d{4}-\d\d-\d\d)/.exec(basename(file))?.[1];

/** Splits bytes into lines; accepts `\r\n`, and a last line without a line end. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    yield line.at(-1) === 13 ? line.subarray(0, -1) : line;
    start = end === -1 ? bytes.length : end + 1;
  }
}

/** Message ids by line. The same file of the same group gives the same ids, so ingesting it again changes nothing. */
const idsOf = (file: string, { channel, group, day }: SourceOptions): ((line: number) => string) => {
  const place = createHash('sha256')
    .update(JSON.stringify([channel, group, day ?? basename(file)]))
    .digest('hex')
    .slice(0, 16);
  return (line) => `${day ?? 'undated'}.${line}.${place}`;
};

/** A JSONL line is an envelope. The command line gives `id`, `channel` and `conversation` if they are absent; `sender` may be an id. */
const fromJson = (text: string, id: string, { channel, group }: SourceOptions): unknown => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NatterError('invalid', 'the line is not a JSON object');
  const given = value as Record<string, unknown>;
  const sender = typeof given.sender === 'string' ? { id: given.sender } : given.sender;
  return { id, channel, conversation: { id: group, kind: 'group' }, ...given, sender };
};

/** Reads a log file into envelopes. Bad lines are refused one by one; no content of a file makes this throw. */
export const readSource = (file: string, bytes: Buffer, options: SourceOptions): Source => {
  const idOf = idsOf(file, options);
  const midnight = options.day === undefined ? undefined : Date.parse(`${options.day}T00:00:00Z`);
  const mentioned = options.mention === undefined ? () => false : mentionOf(options.mention);
  const asOwner = (id: string): { role?: 'owner' } =>
    options.owner?.toLowerCase() === id.toLowerCase() ? { role: 'owner' } : {};

  const envelopes: InboundEnvelope[] = [];
  const refused: { line: number; reason: string }[] = [];
  const counts = { lines: 0, notices: 0, blank: 0, repaired: 0 };

  const fromIrc = (text: string, id: string): unknown => {
    const parsed = parseIrcLine(text);
    if (parsed.kind === 'notice') counts.notices += 1;
    if (parsed.kind === 'blank') counts.blank += 1;
    if (parsed.kind === 'unreadable') throw new NatterError('invalid', 'the line is not a message, an action or a notice');
    if (parsed.kind !== 'message' && parsed.kind !== 'action') return null;
    return {
      id,
      channel: options.channel,
      conversation: { id: options.group, kind: 'group' },
      sender: { id: parsed.nick, name: parsed.nick },
      text: parsed.text,
      ...(midnight !== undefined && { at: midnight + parsed.minute * 60_000 }),
    };
  };

  for (const raw of linesOf(bytes)) {
    counts.lines += 1;
    const text = raw.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(raw)) counts.repaired += 1;
    try {
      if (options.format === 'jsonl' && text.trim() === '') counts.blank += 1;
      else {
        const id = idOf(counts.lines);
        const value = options.format === 'irc' ? fromIrc(text, id) : fromJson(text, id, options);
        if (value === null) continue;
        const envelope = check<InboundEnvelope>(arrivingEnvelope, value);
        envelopes.push({
          ...envelope,
          sender: { ...envelope.sender, ...asOwner(envelope.sender.id) },
          mentioned: envelope.mentioned || mentioned(envelope.text),
        });
      }
    } catch (error) {
      refused.push({ line: counts.lines, reason: error instanceof NatterError ? error.message : 'the line is not JSON' });
    }
  }
  return { ...counts, envelopes, refused };
};
