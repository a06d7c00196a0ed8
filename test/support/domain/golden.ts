import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { repairEvents } from '../../../shared/domain/session/decide/repair.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { type EventType, sessionEvent } from '../../../shared/domain/session/events.ts';
import { fold, initialState, type PlainState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { decodeCommit, encodeCommit } from '../../../shared/wire/codec.ts';
import { unrecorded } from './commits.ts';
import { command, stateAfter, tell } from './given.ts';

/**
 * The golden corpus: for each event type and version one short history as it was stored when that version was released, and the state it
 * folded to. Files are only ever added: today's code must read all of them and come to the same states (F6).
 */
const folder = new URL('../../golden/', import.meta.url);

/** One file. `commits` are the stored bytes, base64; `sha256` is over the JSON of `state`. */
export interface Golden {
  readonly name: string;
  readonly commits: readonly { readonly seq: number; readonly recordedAt: number; readonly bytes: string }[];
  readonly state: PlainState;
  readonly sha256: string;
}

export const versionOf = (type: EventType): number => {
  const option = sessionEvent.options.find(({ shape }) => shape.type.value === type);
  return option?.shape.v.value ?? 0;
};
export const pathOf = (name: EventType | GoldenField): string => {
  const [type] = name.split('-');
  return new URL(`v${versionOf(type as EventType)}/${name}.json`, folder).pathname;
};

/** JSON with sorted names: the same state is the same text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
export const hashOf = (state: PlainState): string => createHash('sha256').update(canonical(state)).digest('hex');

export const readCommits = ({ commits }: Golden): RecordedCommit[] =>
  commits.map(({ seq, recordedAt, bytes }) => decodeCommit(Buffer.from(bytes, 'base64'), seq, recordedAt));
export const replay = (golden: Golden): PlainState => toPlain(readCommits(golden).reduce(fold, initialState));

/** Every file of every version. */
export const corpus = (): Golden[] =>
  readdirSync(folder)
    .filter((name) => /^v\d+$/.test(name))
    .flatMap((version) => readdirSync(new URL(`${version}/`, folder)).map((file) => new URL(`${version}/${file}`, folder)))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Golden);

const everything = {
  messageId: 'm1',
  text: 'Grüße, 世界 😀\n\tsecond line',
  sender: { id: 'irc:nick', name: 'Nick', role: 'participant' },
  deliverTo: { channel: 'irc', to: '#ubuntu', accountId: 'work', threadId: '7' },
} as const;
const source = { kind: 'channel', interactive: true, platform: 'irc', triggerId: 'x', type: 'group' } as const;
const rich: CommandEnvelope = {
  ...command('post m1 @1763736000123', 'c0'),
  data: { type: 'post_message', sessionId: 'irc:2025-11-21-abc', message: everything, source },
};

/** A history for each event type: written once, when the type or a version of it is new. */
const histories: Record<EventType, Parameters<typeof tell>> = {
  session_opened: [rich, 'append m2'],
  session_reopened: ['open', 'deactivate', 'append m1'],
  user_message: ['append m0', rich],
  message_edited: [
    'post m1',
    { type: 'message_edited', v: 1, of: '2.1', messageId: 'm1', text: 'better', by: everything.sender },
    'append m2',
  ],
  message_withdrawn: [
    'post m1',
    { type: 'message_withdrawn', v: 1, of: '2.1', messageId: 'm1', by: everything.sender },
    'append m2',
  ],
  message_refused: ['post m1', { type: 'message_refused', v: 1, messageId: 'm2', turnId: 'm2', code: 'queue_full' }],
  turn_queued: ['post m0', rich],
  turn_started: [rich, 'reply m1/1 1', 'post m2'],
  turn_resumed: [rich, 'continue m1/1 1', 'resume', 'resume'],
  model_step: [rich, 'continue m1/1 1', 'continue m1/1 2'],
  assistant_message: [rich, 'reply m1/1 1'],
  turn_completed: ['post m1', 'post m2', 'reply m1/1 1'],
  turn_failed: [rich, 'fail m1/1 1'],
  turn_aborted: ['post m1', 'stop'],
  queue_cleared: ['post m1', 'post m2', 'post m3', 'stop', 'post m4'],
  approval_requested: ['post m1', 'ask m1/1 p1 500', 'post m2'],
  approval_resolved: ['post m1', 'ask m1/1 p1 500', 'answer p1 granted @400', 'ask m1/2 p2 500', 'expire p2 @501'],
  client_results_awaited: ['post m1', 'call m1/1 1 find client deny client', 'append m2'],
  client_results_received: [
    ...['post m1', 'call m1/1 1 find client client', 'give-saying m2 m1.1.0:ok m1.1.1:error'],
    ...['call m1/2 2 find client', 'expire-results m1 @1001', 'append m3'],
  ],
  session_reset: ['post m1', 'post m2', 'reset s2', 'post m3'],
  session_deactivated: ['append m1', 'deactivate'],
  participant_resolved: ['append m1', 'open-by owner-1'],
  origin_changed: ['origin #ubuntu', 'origin ubuntu'],
  route_changed: ['append m1', 'route #ubuntu'],
  settings_changed: ['append m1', 'send deny', 'reset s2', 'send inherit', 'send allow'],
  notice: ['notice hello', 'append m1', 'report'],
  checkpoint_requested: ['post m1', 'reset s2 m2', 'append m3'],
  introspected: ['post m1', 'reply m1/1 1', 'checkpoint', 'introspect 1 2', 'append m2'],
  introspection_failed: ['post m1', 'checkpoint', 'introspect-failed 1 1', 'append m2'],
  memory_changed: ['post m1', 'call m1/1 1 memory_add run', 'remember m1/1 m1.1.0', 'reply m1/1 2', 'forget 4-0'],
  skills_changed: ['post m1', 'equip m1/1 1 weather', 'append m2'],
  turn_joined: ['post m1', 'post-as m2 steer', 'continue m1/1 1'],
  prompt_changed: [
    'post m1',
    { type: 'prompt_changed', v: 1, parts: [{ name: 'instructions', characters: 28 }] },
    'reply m1/1 1',
  ],
  tool_call_started: ['post m1', 'call m1/1 1 read run', 'resume', 'start m1/2 m1.1.0'],
  tool_result: ['post m1', 'call m1/1 1 read run', 'result m1/1 m1.1.0 ok', 'reply m1/1 2'],
  tool_output: ['post m1', 'call m1/1 1 read run', { type: 'tool_output', v: 1, callId: 'm1.1.0', page: 1, text: 'first page' }],
  context_compacted: ['post m1', 'reply m1/1 1', 'compact c1', 'compacted c1/1 1 3', 'append m2'],
  runs_stopped: ['post m1', 'call m1/1 1 sessions_spawn spawn', 'stop'],
  history_damaged: [
    'post m1',
    ...repairEvents({
      gap: { reason: 'missing', fromRev: 1, toRev: 1 },
      known: stateAfter('post m1', 'send deny', 'route #ubuntu'),
      ...{ by: 'owner', reason: 'a bad disk', sessionId: 's2' },
    }),
    'append m2',
  ],
  delivery_reported: ['post m1', 'reply m1/1 1', 'undelivered 4.1 partial', 'append m2'],
  delivery_repeated: ['post m1', 'reply m1/1 1', 'send allow', 'undelivered 4.1', 'repeat-delivery 4.1', 'append m2'],
  session_deleted: ['post m1', 'delete key', 'post m2', 'delete erased', 'append m3'],
};

/** Histories of fields that a type has got since. */
const laterFields = {
  'user_message-attachments': [
    {
      ...rich,
      data: {
        ...{ type: 'post_message', sessionId: 's1' },
        message: {
          ...everything,
          attachments: [
            {
              name: 'a.png',
              type: 'image/png',
              bytes: 68,
              digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
            },
            { url: 'https://example.org/b.pdf' },
          ],
        },
      },
    },
    'reply m1/1 1',
  ],
} as const satisfies Record<string, Parameters<typeof tell>>;
export type GoldenField = keyof typeof laterFields;
export const goldenFields = Object.keys(laterFields) as GoldenField[];

const isField = (name: EventType | GoldenField): name is GoldenField => name in laterFields;

const record = (name: EventType | GoldenField): string => {
  const { commits, state } = tell(...(isField(name) ? laterFields[name] : histories[name]));
  const stored = commits.map((commit) => ({
    seq: commit.seq,
    recordedAt: commit.recordedAt,
    bytes: Buffer.from(encodeCommit(unrecorded(commit))).toString('base64'),
  }));
  const plain = toPlain(state);
  return `${JSON.stringify({ name, commits: stored, state: plain, sha256: hashOf(plain) }, null, 2)}\n`;
};

/** The text of a file: what is there, and for a new type or field what should be. An existing file is never written anew. */
export const goldenText = (name: EventType | GoldenField): string =>
  existsSync(pathOf(name)) ? readFileSync(pathOf(name), 'utf8') : record(name);
