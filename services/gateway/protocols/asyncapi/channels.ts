import type { AuditKind } from '../../../../shared/domain/access/audit.ts';
import { auditKinds } from '../../../../shared/domain/access/audit.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { type EventType, eventTypes } from '../../../../shared/domain/session/events.ts';
import type { CustodyState } from '../../../../shared/ports/custody-log.ts';
import { custodyRecord } from '../../../../shared/wire/custody-record.ts';
import type { Subjects } from '../../../../shared/wire/subjects.ts';
import { streamNames } from '../../../../shared/wire/topology.ts';
import type { MessageName } from './messages.ts';

/** Where the messages are: subjects as `shared/wire/subjects.ts` makes them, with a name in braces for what varies. */

interface Parameter {
  readonly description: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
}
export interface Channel {
  readonly summary: string;
  /** `null`: an inbox that the other message names. */
  readonly address: string | null;
  readonly parameters?: readonly (keyof typeof parameters)[];
  readonly message: MessageName;
  /** The stream that keeps it. */
  readonly stream?: string;
  /** `send`: Natter publishes, `receive`: Natter consumes. `answers`: replies to another channel's messages. */
  readonly action: 'send' | 'receive' | 'answers';
  /** The reply: its channel, and the field of the payload with its address. */
  readonly reply?: { readonly channel: string; readonly to: string };
  /** Between Natter's own services; described for observers. */
  readonly isInternal?: true;
}

export const parameters = {
  headline: {
    description: 'the event type that the commit is filed under (docs/integrate/events.md)',
    enum: eventTypes,
  },
  keyPath: {
    description: 'the session key, escaped, with `.` for each `:`, so several tokens: subscribe to a beginning with `.>`',
    examples: ['agent.main.main', 'agent.main.telegram.group.-100123'],
  },
  key: { description: 'the session key, escaped, one token', examples: ['agent:main:main'] },
  channel: { description: 'the channel, escaped', examples: ['telegram'] },
  conversation: { description: "the platform's id of the conversation, escaped", examples: ['-100123'] },
  target: {
    description: '`<account>~<to>~<thread>`, each escaped and empty where there is none; a very long one is `~` and its SHA-256',
    examples: ['~-100123~'],
  },
  state: { description: 'what became of it', enum: custodyRecord.shape.state.options },
  service: {
    description: '`<service>~<source>`: who could not process it, and the channel or the session key that it belongs to',
    examples: ['router~telegram', 'session~agent%3Amain%3Amain', 'delivery~telegram'],
  },
  kind: { description: 'what happened', enum: auditKinds },
} as const satisfies Readonly<Record<string, Parameter>>;

/** A placeholder for a variable part of a subject; it needs no escaping. */
const mark = (name: keyof typeof parameters): string => `0${name}0`;
const address = (subject: string): string => subject.replaceAll(/~?0([A-Za-z]+)0~?/g, '{$1}');

/** Every channel by name. */
export const channelsOf = (subjects: Subjects): Readonly<Record<string, Channel>> => {
  const streams = streamNames(subjects.prefix);
  const key = mark('keyPath') as SessionKey;
  const target = { channel: mark('channel'), to: mark('target') };
  return {
    commits: {
      summary: 'What has happened, of all sessions, for ever: the log itself',
      address: address(subjects.event(mark('headline') as EventType, key)),
      ...{ parameters: ['headline', 'keyPath'], message: 'commit', stream: streams.events, action: 'send' },
    },
    liveText: {
      summary: 'Answers in the making',
      address: address(subjects.live(key)),
      ...{ parameters: ['keyPath'], message: 'delta', action: 'send' },
    },
    joins: {
      summary: 'Where a reader of live text that comes late asks for what it missed',
      address: subjects.join,
      ...{ message: 'join', action: 'receive', reply: { channel: 'missedText', to: 'answerTo' } },
    },
    missedText: {
      summary: "The running step's text so far, at the reader's own inbox",
      ...{ address: null, message: 'delta', action: 'answers' },
    },
    inbound: {
      summary: 'Publish here to send messages in; the acknowledgement means that it is stored',
      address: address(subjects.inbound(mark('channel'), mark('conversation'))),
      ...{ parameters: ['channel', 'conversation'], message: 'inboundEnvelope', stream: streams.inbound, action: 'receive' },
    },
    commands: {
      summary: 'What sessions are asked by the gateway, the router and themselves. Use the HTTP API: it checks who may',
      address: address(subjects.command(mark('key'))),
      ...{ parameters: ['key'], message: 'commandEnvelope', stream: streams.commands, action: 'receive' },
      ...{ reply: { channel: 'answers', to: 'answerTo' }, isInternal: true },
    },
    answers: {
      summary: 'What became of commands, at the inbox of whoever asked',
      ...{ address: null, message: 'commandAnswer', action: 'answers', isInternal: true },
    },
    checkpoints: {
      summary: 'Requests for checkpoints',
      address: address(subjects.checkpoint(mark('key'))),
      ...{ parameters: ['key'], message: 'checkpointRequest', stream: streams.checkpoints, action: 'receive', isInternal: true },
    },
    deliveries: {
      summary: 'Custody of outgoing messages, one record for each step',
      address: address(subjects.delivery(mark('state') as CustodyState, target)),
      ...{ parameters: ['state', 'channel', 'target'], message: 'custodyRecord', stream: streams.deliveries, action: 'send' },
    },
    resumes: {
      summary: 'Where delivery is asked to try parked accounts again. Use the HTTP API: it checks who may',
      ...{ address: subjects.resume, message: 'resumeRequest', action: 'receive', isInternal: true },
    },
    deadLetters: {
      summary:
        'Messages nobody could process, until somebody resends or removes them; bounded in age, size and number of a source',
      address: address(subjects.dead(mark('service'), '')),
      ...{ parameters: ['service'], message: 'deadLetter', stream: streams.dead, action: 'send' },
    },
    audit: {
      summary: 'The audit trail, bounded in age and size',
      address: address(subjects.audit(mark('kind') as AuditKind)),
      ...{ parameters: ['kind'], message: 'auditRecord', stream: streams.audit, action: 'send' },
    },
  };
};
