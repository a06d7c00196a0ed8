import { expect, vi } from 'vitest';
import { responseIdOf } from '../../../../services/gateway/protocols/openai/format/ids.ts';
import { runIdOf } from '../../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { scopeName } from '../../../../shared/domain/memory/memory-scope.ts';
import { admit, approve } from '../../../../shared/domain/routing/pairing.ts';
import type { MemoryScope } from '../../../../shared/domain/values/memory-edit.ts';
import { strangersShare } from '../../../../shared/domain/values/queue-share.ts';
import type { DeadLetter } from '../../../../shared/ports/dead-letters.ts';
import { encodeCommand } from '../../../../shared/wire/codec.ts';
import { undeliveredCodec } from '../../../../shared/wire/undelivered.ts';
import { digestOf } from '../../../support/files.ts';
import { pathOf } from '../setup.ts';
import { configOf, type GatewayRig } from './access-rig.ts';

/** What callers ask about in the access matrix: sessions, what waits for a person in them, and what is remembered of them. Each is a letter. */

interface Kind {
  readonly key: (cell: string) => string;
  readonly people: readonly string[];
  readonly deleted?: true;
}
/** Sessions by how they stand to those who call. `cell` makes a session its own. */
const kinds: Readonly<Record<string, Kind>> = {
  /** Ann's own. */
  a: { key: (cell) => `agent:main:telegram:${cell}:dm:1`, people: ['telegram:1'] },
  /** Shared by Ann and Bob. */
  b: { key: (cell) => `agent:main:telegram:group:${cell}`, people: ['telegram:1', 'telegram:2'] },
  /** Bob's, elsewhere. */
  c: { key: (cell) => `agent:main:discord:group:${cell}`, people: ['discord:2'] },
  /** Strangers', of a channel whose name begins like another's. */
  d: { key: (cell) => `agent:main:telegramx:dm:${cell}`, people: ['telegramx:9'] },
  /** Was Ann's, and is gone. */
  g: { key: (cell) => `agent:main:telegram:group:gone-${cell}`, people: ['telegram:1'], deleted: true },
  /** Never was. */
  n: { key: (cell) => `agent:main:telegram:group:never-${cell}`, people: [] },
  /** Never was, and Eve may begin it. */
  e: { key: (cell) => `agent:main:telegram:${cell}:dm:9`, people: [] },
};

/** However busy the machine is. */
export const soon = { interval: 2 };

/** What a call is about. `id` is that of a run, an approval or a memory, whatever the world is of. */
export interface Place {
  readonly letter: string;
  readonly key: string;
  readonly id: string;
}
export interface World {
  readonly letters: string;
  make(gateway: GatewayRig, letter: string, cell: string): Promise<Place>;
}

const kindOf = (letter: string): Kind => kinds[letter] as Kind;

/** Sessions in which something was said. Whatever there is to do in one is done before it may be gone. */
const worldOf = (act: (gateway: GatewayRig, key: string, letter: string, cell: string) => Promise<string>): World => ({
  letters: Object.keys(kinds).join(''),
  async make(gateway, letter, cell) {
    const { key: keyFor, people, deleted } = kindOf(letter);
    const key = keyFor(cell);
    await gateway.said(key, people);
    const id = await act(gateway, key, letter, cell);
    if (deleted) await gateway.done(key, { type: 'delete_session', mode: 'key', reason: 'test' });
    return { letter, key, id };
  },
});
const isThere = (letter: string): boolean => kindOf(letter).people.length > 0;

/** `id` is the run of what was said there. */
export const sessions = worldOf(async (gateway) => gateway.lastRun());

/** The same; `id` is the last event of what was said. */
export const sessionEvents = worldOf(async ({ ports }, key) => `${(await ports.events.last(key as SessionKey))?.seq ?? 1}.0`);

/** The same, with a run whose id says where it is. */
export const runs = worldOf(async ({ as }, key, letter) => {
  const body = { method: 'agent', params: { sessionKey: key, message: 'hi', timeoutSeconds: 5 } };
  const began = isThere(letter)
    ? (await as.owner('POST', '/v1/rpc', { body })).body.result
    : { runId: runIdOf(key as SessionKey, 'x') };
  return began.runId;
});

/** The same, with a message that the owner has planned there. */
const planned = worldOf(async ({ as }, key) => {
  const body = { text: 'hi', sendAt: 4e12 };
  return (await as.owner('POST', pathOf(key, '/messages'), { body })).body.runId;
});
export const scheduled: World = {
  ...planned,
  async make(gateway, letter, cell) {
    const place = await planned.make(gateway, letter, cell);
    // The gateway hears of a deletion a moment after it.
    const listed = async (): Promise<readonly { readonly runId: string }[]> =>
      (await gateway.as.owner('GET', '/v1/scheduled-messages')).body.messages;
    if (kindOf(letter).deleted)
      await vi.waitFor(async () => expect((await listed()).map(({ runId }) => runId)).not.toContain(place.id), soon);
    return place;
  },
};

/** The same, with an answer as OpenAI's clients know it. */
export const responses = worldOf(async ({ as }, key, letter) => {
  const body = { model: 'natter', input: 'hi', conversation: key };
  return isThere(letter) ? (await as.owner('POST', '/v1/responses', { body })).body.id : responseIdOf(key as SessionKey, 'never');
});

/** The same, with a file that came with a message; `id` is its digest. */
export const attachments = worldOf(async ({ as }, key, letter) => {
  const content = Buffer.from(`a file of ${key}`);
  const body = { text: 'look', attachments: [{ type: 'text/plain', data: content.toString('base64') }] };
  if (isThere(letter)) expect((await as.owner('POST', pathOf(key, '/messages'), { body })).status).toBe(202);
  const digest = digestOf(content);
  if (isThere(letter))
    await vi.waitFor(async () => expect((await as.owner('GET', pathOf(key, `/attachments/${digest}`))).status).toBe(200), soon);
  return digest;
});

/** In each a call waits for a person: Ann at Telegram, Bob elsewhere. */
export const approvals = worldOf(async ({ as, host, done }, key, letter, cell) => {
  const approvalId = `${letter}-${cell}`;
  if (!isThere(letter)) return approvalId;
  host.hold();
  const { runId } = (await as.owner('POST', pathOf(key, '/messages'), { body: { text: 'clean up' } })).body;
  await vi.waitFor(() => expect(host.state(key as SessionKey).machine.value).toBe('running'), soon);
  const approvers = [letter === 'c' ? 'bob' : 'telegram:1'];
  const request = { approvalId, tool: 'exec', action: 'run rm -r build', expiresAt: 4e12, approvers };
  await done(key, { type: 'request_approval', turn: { id: runId, attempt: 1 }, ...request });
  await host.release();
  return approvalId;
});

/** In each a turn runs, and as many messages of its people wait as strangers may have together where others want some too. */
export const crowded = worldOf(async ({ host, done }, key, letter, cell) => {
  const { people } = kindOf(letter);
  host.hold();
  for (let at = 0; people.length > 0 && at <= strangersShare(configOf().session.queue.limit).all; at++) {
    const principal = people[at % people.length] ?? '';
    const message = {
      messageId: `w${at}-${cell}`,
      text: 'hi',
      sender: { id: principal, role: 'participant' as const, principal },
    };
    await done(key, { type: 'post_message', sessionId: 's', message });
  }
  return '';
});

/** Whose memories these are beside the sessions' own: Ann's, Bob's and the agent's, which everybody is told by it. */
const scopes: Readonly<Record<string, MemoryScope>> = {
  p: { kind: 'person', principal: 'telegram:1' },
  q: { kind: 'person', principal: 'bob' },
  s: { kind: 'agent' },
};
/** What is remembered. A session that is gone is still in the memory, for as long as that is behind the log. */
export const memories: World = {
  letters: 'abcdgnpqs',
  async make(gateway, letter, cell) {
    const { key } = letter in kinds ? await sessions.make(gateway, letter, cell) : { key: 'agent:main:memory' };
    const [place, scope] = [key as SessionKey, scopeName(scopes[letter] ?? { kind: 'session' }, key as SessionKey)];
    const seq = Number(`${(await gateway.ports.events.info()).lastSeq + 1}${letter.charCodeAt(0)}`);
    const id = `${seq}-0`;
    if (letter === 'n') return { letter, key: scope, id };
    const source = { key: place, sessionId: 's', seq, fromRev: 1, toRev: 1, by: 'person' } as const;
    const entry = { id, scope, text: `of ${letter}`, createdAt: 1, updatedAt: 1, source, changes: [{ key: place, seq }] };
    // As if it were ahead of all that follows: nobody waits for it.
    await gateway.hostPorts.memory.put({ entries: [entry], gone: [] }, 1e9);
    await vi.waitFor(async () => expect((await gateway.as.owner('GET', `/v1/memory/${id}`)).status).toBe(200), soon);
    return { letter, key: scope, id };
  },
};

/** In each a turn of its first person runs, and another message of theirs waits: `id` is its run. */
export const waitingMessages = worldOf(async ({ host, done, lastRun }, key, letter, cell) => {
  const people = kindOf(letter).people.slice(0, 1);
  host.hold();
  for (const [at, principal] of [...people, ...people].entries()) {
    const sender = { id: principal, role: 'participant' as const, principal };
    await done(key, { type: 'post_message', sessionId: 's', message: { messageId: `m${at}-${cell}`, text: 'hi', sender } });
  }
  return lastRun();
});

/** Tokens made for the question. */
export const tokens: World = {
  letters: 't',
  async make({ as }, letter) {
    const { body } = await as.owner('POST', '/v1/tokens', { body: { role: 'read-only' } });
    return { letter, key: '', id: body.id };
  },
};

/** A letter in a session of its own, which has it if that is asked for. */
const letterAt = async ({ ports }: GatewayRig, id: string, of: Pick<DeadLetter, 'service' | 'bytes'>): Promise<string> => {
  await ports.deadLetters.put({ id, reason: 'test', subject: 'natter.command.7.agent:main:dead', at: 1, ...of });
  const found = (await ports.deadLetters.list(100)).find((one) => one.id === id);
  return `${found?.seq}`;
};
const deadKey = 'agent:main:dead' as SessionKey;
const appending = (id: string) => {
  const message = { messageId: id, text: 'hi', sender: { id: 'ann' } };
  const data = { type: 'append_message', sessionId: 's', message } as const;
  return { id, key: deadKey, at: 1, correlationId: id, causationId: id, actor: 'test', data };
};

/** Messages that nobody could process, made for the question. */
export const deadLetters: World = {
  letters: 'l',
  async make(gateway, letter, cell) {
    const id = `dead-${cell}`;
    const bytes = encodeCommand(appending(id));
    return { letter, key: '', id: await letterAt(gateway, id, { service: 'session', bytes }) };
  },
};

/** Outgoing messages that may not have arrived, of a session that is there. */
export const deliveries: World = {
  letters: 'o',
  async make(gateway, letter, cell) {
    const id = `9.${cell}`;
    await gateway.ports.commands.publish(appending('alive'));
    const target = { channel: 'chat', to: 'ann' };
    const outbound = { id, seq: 9, key: deadKey, target, kind: 'assistant_message', text: 'hi', turnId: 't' } as const;
    const bytes = undeliveredCodec.encode({ ...outbound, outcome: 'unknown' });
    return { letter, key: '', id: await letterAt(gateway, id, { service: 'delivery', bytes }) };
  },
};

/** Parked accounts of channels of their own, as a delivery service reports them. */
export const parkedAccounts: World = {
  letters: 'w',
  async make({ hostPorts }, letter, cell) {
    const channel = `irc-${cell}`;
    const waiting = [{ channel, state: 'parked', detail: 'HTTP 401', until: 4e12 } as const];
    const services = [{ name: 'delivery', problems: [], warnings: [], metrics: {}, waiting }];
    await hostPorts.presence.tell({ v: 1, process: channel, version: '0', startedAt: 1, at: 1, services });
    return { letter, key: channel, id: '' };
  },
};

/** Strangers on channels of their own; their code and their id are one. */
const strangersOf = (areApproved: boolean): World => ({
  letters: 'u',
  async make({ ports }, letter, cell) {
    const [key, id] = [`irc-${cell}`, 'ABCDEFGH'];
    await ports.pairings.change(key, (record) => admit(record, { code: id, senderId: id, inboundId: id }, Date.now()));
    if (areApproved) await ports.pairings.change(key, (record) => approve(record, { code: id, by: 'test', now: Date.now() }));
    return { letter, key, id };
  },
});
export const strangers = strangersOf(false);
export const pairedStrangers = strangersOf(true);

/** Nothing but the caller. */
export const nothing: World = { letters: '-', make: async (_, letter) => ({ letter, key: '', id: '' }) };

/** Where lists are asked about. */
export const everywhere = 'all';
/** The letter of a session there. */
export const letterOf = (key: string): string =>
  Object.keys(kinds).find((letter) => kindOf(letter).key(everywhere) === key) ?? key;
