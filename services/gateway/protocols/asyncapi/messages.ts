import { eventTypes } from '../../../../shared/domain/session/events.ts';
import type { Json } from './schemas.ts';

/** The messages on the broker: what each is, and its headers. The schema of a payload has the name of its message. */

interface Message {
  readonly summary: string;
  readonly headers?: Json;
  /** The field of the payload that correlates the messages of a run. */
  readonly correlation?: string;
}

const text = (description: string, more: Json = {}): Json => ({ type: 'string', description, ...more });
const object = (required: readonly string[], properties: Json): Json => ({
  type: 'object',
  ...(required.length > 0 && { required }),
  properties,
});

const traceparent = text('W3C Trace Context, where the sender is traced', {
  pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
});
const messageId = (description: string): Json => text(`${description}. The stream takes the same one once in two minutes.`);

/** CloudEvents 1.0 in NATS' binary mode. Values are percent-encoded. */
const cloudEvent: Json = {
  'ce-specversion': { type: 'string', const: '1.0' },
  'ce-id': text('`id` of the commit'),
  'ce-source': text('`/natter/sessions/<key>`'),
  'ce-type': { type: 'string', enum: eventTypes.map((type) => `natter.${type}`), description: '`natter.<headline>`' },
  'ce-time': text('`at` of the commit', { format: 'date-time' }),
  'ce-subject': text('`key` of the commit'),
  'content-type': { type: 'string', const: 'application/msgpack' },
};

export const messages = {
  commit: {
    summary: 'All events of one decision, which happened together or not at all',
    headers: object([...Object.keys(cloudEvent), 'Nats-Msg-Id'], {
      ...cloudEvent,
      'Nats-Msg-Id': messageId('As `ce-id`'),
      traceparent,
    }),
    correlation: 'correlationId',
  },
  delta: { summary: 'A piece of an answer in the making. Lost on purpose: the recorded `assistant_message` is what counts' },
  join: { summary: 'Asks for the text of the running step so far; pieces come to `answerTo`, if there is one' },
  resumeRequest: { summary: 'Try the parked accounts of a channel again, or one of them' },
  inboundEnvelope: {
    summary: 'What a platform said',
    headers: object(['Nats-Msg-Id'], {
      'Nats-Msg-Id': messageId(
        'The escaped JSON text of `[channel, accountId or null, id, conversation.id]`, without the last for `idScope: account`',
      ),
      traceparent,
    }),
  },
  commandEnvelope: {
    summary: 'What a session is asked',
    headers: object(['Nats-Msg-Id'], { 'Nats-Msg-Id': messageId('The escaped `id`'), traceparent }),
    correlation: 'correlationId',
  },
  commandAnswer: { summary: 'What a session made of a command; told once, without guarantee', correlation: 'commandId' },
  checkpointRequest: {
    summary: 'A request to introspect what was said between two revs of a session',
    headers: object(['Nats-Msg-Id'], { 'Nats-Msg-Id': messageId('The escaped `id`'), traceparent }),
  },
  custodyRecord: { summary: 'Who had which outgoing message when, and what became of it' },
  deadLetter: {
    summary: 'A message nobody could process, whole, with the reason',
    headers: object([], { 'Nats-Msg-Id': messageId('The escaped `<service>:<id>`') }),
  },
  auditRecord: {
    summary: 'Who did, or tried, what concerns security',
    headers: object([], { 'Nats-Msg-Id': messageId('Random') }),
  },
} as const satisfies Readonly<Record<string, Message>>;
export type MessageName = keyof typeof messages;

/** The messages as the document has them. */
export const messageObjects = (): Record<string, Json> =>
  Object.fromEntries(
    Object.entries<Message>(messages).map(([name, { summary, headers, correlation }]) => [
      name,
      {
        ...{ name, summary, contentType: 'application/msgpack', payload: { $ref: `#/components/schemas/${name}` } },
        ...(headers && { headers }),
        ...(correlation && { correlationId: { location: `$message.payload#/${correlation}` } }),
      },
    ]),
  );
