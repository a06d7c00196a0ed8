import { subjectsUnder } from '../../../../shared/wire/subjects.ts';
import { type Channel, channelsOf, parameters } from './channels.ts';
import { messageObjects } from './messages.ts';
import { type Json, schemas } from './schemas.ts';

/** The AsyncAPI 3.0 document of the broker, made from the schemas and subjects that the code uses. */

const description = `The application described is Natter: what it sends, you may receive. Every message is plain MessagePack; the schemas are of
what that decodes to, and a whole number may arrive as an integer or as float64. Subjects, escaping, headers, numbers and how to skip repeats are in
docs/integrate/wire.md, each event type with an example in docs/integrate/events.md. Ignore fields you do not know. The HTTP API has a document of its own, OpenAPI, at
\`/v1/openapi.json\`.`;

const nats = { nats: { bindingVersion: '0.1.0' } };

const channelObject = ({ summary, address, parameters: named = [], message, stream }: Channel): Json => ({
  ...{ address, summary, messages: { [message]: { $ref: `#/components/messages/${message}` } } },
  ...(named.length > 0 && {
    parameters: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/parameters/${name}` }])),
  }),
  ...(stream && { 'x-jetstream-stream': stream }),
});

/** An operation sends or receives the messages of a channel, which another channel may answer. */
const operationObjects = (channels: Readonly<Record<string, Channel>>): Json => {
  const messagesOf = (name: string, { message }: Channel): Json => ({
    channel: { $ref: `#/channels/${name}` },
    messages: [{ $ref: `#/channels/${name}/messages/${message}` }],
  });
  return Object.fromEntries(
    Object.entries(channels).flatMap(([name, channel]) => {
      const { action, summary, reply, isInternal } = channel;
      const answers = reply && channels[reply.channel];
      if (action === 'answers') return [];
      const operation = {
        ...{ action, summary, ...messagesOf(name, channel), bindings: nats },
        ...(answers && {
          reply: { address: { location: `$message.payload#/${reply.to}` }, ...messagesOf(reply.channel, answers) },
        }),
        ...(isInternal && { tags: [{ name: 'internal' }] }),
      };
      return [[`${action === 'send' ? 'tell' : 'take'}${name[0]?.toUpperCase()}${name.slice(1)}`, operation] as const];
    }),
  );
};

/** The document of a system under a prefix, as it is served at `GET /v1/asyncapi.json`. */
export const asyncApiDocument = (version: string, prefix: string): Json => {
  const channels = channelsOf(subjectsUnder(prefix));
  return {
    asyncapi: '3.0.0',
    info: { title: 'Natter', version, description, license: { name: 'MIT' } },
    defaultContentType: 'application/msgpack',
    servers: {
      broker: {
        host: '{host}',
        protocol: 'nats',
        description:
          '`nats.url`; the broker of `natter up` is in `broker.json` of its data directory; connect as the user `reader`',
        variables: { host: { default: '127.0.0.1:4222' } },
      },
    },
    channels: Object.fromEntries(Object.entries(channels).map(([name, channel]) => [name, channelObject(channel)])),
    operations: operationObjects(channels),
    components: { schemas: schemas(), messages: messageObjects(), parameters },
  };
};
