import { expect, vi } from 'vitest';
import { pathOf } from '../setup.ts';
import {
  type Ask,
  allBySocket,
  allByStream,
  byHttp,
  byMcp,
  byRpc,
  bySocket,
  byStream,
  byTicket,
  byTool,
  type Given,
  type Http,
} from './access-callers.ts';
import {
  approvals,
  attachments,
  crowded,
  deadLetters,
  deliveries,
  letterOf,
  memories,
  nothing,
  type Place,
  pairedStrangers,
  parkedAccounts,
  responses,
  runs,
  scheduled,
  sessionEvents,
  sessions,
  soon,
  strangers,
  tokens,
  type World,
  waitingMessages,
} from './access-world.ts';

/** How each line of the access matrix is asked. */

export interface Asking {
  readonly world: World;
  /** By name of the gateway. */
  readonly interfaces: Readonly<Record<string, Ask>>;
  /** Of a list: the letters of what it shows. */
  readonly shows?: (body: any) => readonly string[];
  /** What refusals are called that have a name of their own here; `hidden`: the one for all that is not there. */
  readonly codes?: Readonly<Record<string, string>>;
}

type More = Partial<Omit<Asking, 'interfaces'>>;
const by = (ask: Ask | Asking['interfaces'], more: More = {}): Asking => ({
  world: sessions,
  interfaces: typeof ask === 'function' ? { '': ask } : ask,
  ...more,
});
const route =
  (http: Http = {}, more: More = {}) =>
  (title: string) =>
    by(byHttp(title, http), more);
/** The method or tool that a title names behind its gateway. */
const named = (title: string): string => title.split(/[ ,]+/)[1] ?? '';
/** By both interfaces that have the method. */
const rpc =
  (given: Given = none, more: More = {}) =>
  (title: string) =>
    by({ 'by HTTP': byRpc(named(title), given), 'by WebSocket': bySocket(named(title), given) }, more);
const socket = (given: Given) => (title: string) => by(bySocket(named(title), given));
const tool =
  (given: Given = none, more: More = {}) =>
  (title: string) =>
    by(byTool(named(title), given), more);
const exactly =
  (ask: Ask, more: More = {}) =>
  () =>
    by(ask, more);

const none: Given = () => ({});
const body = (given: object, more: Http = {}) => route({ given: () => given, ...more });
/** Names the session, with this besides. */
const key =
  (more: object = {}): Given =>
  (place) => ({ key: place.key, ...more });
const sessionKey =
  (more: object = {}): Given =>
  (place) => ({ sessionKey: place.key, ...more });

/** Lists, by what they show. */
const lettersIn = (found: readonly { key?: string; sessionKey?: string }[]) =>
  found.map(({ key = '', sessionKey = key }) => letterOf(sessionKey));
const ofSessions = { shows: ({ sessions }: any) => lettersIn(sessions) };
const ofMessages = { shows: ({ messages }: any) => lettersIn(messages) };
const ofEvents = { shows: ({ events }: any) => lettersIn(events) };
const ofApprovals = { world: approvals, shows: ({ approvals }: any) => lettersIn(approvals) };
const ofMemories = { world: memories, shows: ({ memories }: any) => memories.map(({ text }: any) => text.at(-1)) };

/** About nothing but the caller. */
const plain = { world: nothing };
const waiting = { world: approvals, codes: { 403: 'approval_forbidden', 404: 'approval_unknown', hidden: 'approval_unknown' } };
/** Who is let in, and hears of no approval, hears another answer than who is not. */
const waitingThere = { world: approvals, codes: { 403: 'approval_forbidden', 404: 'approval_unknown' } };
const remembered = { world: memories };
const unknownYet = { codes: { 404: 'session_unknown' } };

/** One scope of which nothing is shown is as good as none. */
const unlessEmpty =
  (ask: Ask): Ask =>
  async (...asked) => {
    const heard = await ask(...asked);
    return heard.body?.memories?.length === 0 ? { ...heard, status: 404, code: 'not_found' } : heard;
  };

/** A chat command, waited for. What is answered that only the owner may counts as a refusal. */
const said =
  (text: string) =>
  (title: string): Asking => {
    const ask = byHttp(title, { given: () => ({ text }), query: '?wait=5' });
    return by(async (...asked) => {
      const heard = await ask(...asked);
      const { status, error, reply } = heard.body ?? {};
      if (status === 'error') return { ...heard, status: 404, code: error.code };
      return /only the owner may/i.test(reply ?? '') ? { ...heard, status: 403, code: 'forbidden' } : heard;
    });
  };
/** A message behind a turn that runs: what its session makes of it, once it is there. */
const queued = (title: string): Asking => {
  const ask = byHttp(title, { given: () => ({ text: 'hi' }) });
  const waited: Ask = async (gateway, bearer, place) => {
    const heard = await ask(gateway, bearer, place);
    if (heard.status !== 202) return heard;
    const run = async () => (await gateway.as.owner('GET', pathOf(place.key, `/runs/${heard.body.runId}`))).body;
    const { status, error } = await vi.waitFor(async () => {
      const found = await run();
      expect(['queued', 'running', 'error']).toContain(found.status);
      return found;
    }, soon);
    return status === 'error' ? { ...heard, status: 429, code: error.code } : heard;
  };
  return by(waited, { world: crowded, codes: { 429: 'queue_full' } });
};
const ofStranger = { world: strangers };
const withCode: Given = ({ key: channel, id: code }) => ({ channel, code });
const ofParked = { world: parkedAccounts };
const ofChannel: Given = ({ key: channel }) => ({ channel });
const ofPaired = { world: pairedStrangers };
const ofSender: Given = ({ key: channel, id: senderId }) => ({ channel, senderId });

const eventsOf = ({ key }: Place): string => pathOf(key, '/events');
const encoded = ({ key }: Place): string => encodeURIComponent(key);
const ofNone = ({ key }: Place): string => `${Buffer.from(key).toString('base64url')}.x`;
const ifUnchanged = { headers: () => ({ 'if-match': '"999999"' }) };
const longAgo = '2001-01-01';
const seqOf = ({ id }: Place) => ({ seq: Number(id) });
const user = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const answered = ({ id }: Place) => {
  const part = { type: 'dynamic-tool', toolName: 'exec', toolCallId: 'c', input: {}, state: 'approval-responded' };
  return { id: 'm', role: 'assistant', parts: [{ ...part, approval: { id, approved: true } }] };
};
const chat = { model: 'natter', messages: [{ role: 'user', content: 'hi' }] };
const response = { model: 'natter', input: 'hi' };
const agui = { runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hi' }] };
/** What the platform of the session would bring. A group may be named by its key too; a direct session is whose the message is. */
const envelope = ({ key, letter }: Place) => {
  const [, , channel, at, ...rest] = key.split(':');
  const id = rest.at(-1);
  const message = { id: `m-${letter}-${key}`, channel, text: 'hi' };
  return at === 'group'
    ? { ...message, conversation: { id, kind: 'group' }, sender: { id: '1' }, sessionKey: key }
    : { ...message, conversation: { id, kind: 'direct' }, sender: { id }, ...(at !== 'dm' && { accountId: at }) };
};

const ofConversation = { codes: { 404: 'item_not_found', hidden: 'conversation_not_found' } };

/** By title. */
export const asks: Readonly<Record<string, (title: string) => Asking>> = {
  'GET /v1/sessions': route({ query: '?status=all' }, ofSessions),
  'GET /v1/events': route({}, ofEvents),
  'GET /v1/events, of a prefix': route({ query: '?key=agent:main:telegram' }, ofEvents),
  'GET /v1/events, streamed': exactly(allByStream, ofEvents),
  'GET /v1/approvals': route({}, ofApprovals),
  'GET /v1/memory': route({}, ofMemories),
  'GET /v1/memory, searched': route({ query: '?query=of' }, ofMemories),
  'GET /v1/search': route({ query: '?q=words&limit=1000' }, ofMessages),
  'rpc messages.search': rpc(() => ({ query: 'words', limit: 1_000 }), ofMessages),
  'rpc sessions.list': rpc(none, ofSessions),
  'rpc approvals.list': rpc(none, ofApprovals),
  'rpc memory.list': rpc(none, ofMemories),
  'rpc status': rpc(none, { shows: ({ sessions, counts }: any) => [...lettersIn(sessions), ...(counts ? ['y'] : [])] }),
  'ws subscribe': exactly(allBySocket, ofEvents),
  'mcp sessions_list': tool(none, ofSessions),
  'mcp events_wait': tool(() => ({ after: '0', timeoutSeconds: 0 }), ofEvents),
  'mcp approvals_list': tool(none, ofApprovals),

  'GET /v1/sessions/:key': route(),
  'GET /v1/sessions/:key/messages': route(),
  'GET /v1/sessions/:key/messages, paged': route({ query: '?after=1&limit=1' }),
  'GET /v1/sessions/:key/messages, backwards': route({ query: '?before=end&limit=1' }),
  'GET /v1/sessions/:key/commits': route(),
  'GET /v1/sessions/:key/commits/stored': route(),
  'GET /v1/sessions/:key/state': route(),
  'GET /v1/sessions/:key/state, long ago': route({ query: `?at=${longAgo}` }),
  'GET /v1/sessions/:key/attachments/:digest': route({}, { world: attachments }),
  'GET /v1/sessions/:key/diff': route({ query: '?from=0' }),
  'GET /v1/sessions/:key/events': route(),
  'GET /v1/sessions/:key/events, streamed': exactly(byStream(eventsOf)),
  'GET /v1/sessions/:key/deliveries': route({ query: ({ id }) => `?event=${id}` }, { world: sessionEvents }),
  'GET /v1/sessions/:key/runs/:runId': route(),
  'GET /v1/sessions/:key/runs/:runId, waiting': route({ query: '?wait=0.01' }),
  'GET /v1/sessions/:key/runs/:runId, of none': route({ id: ofNone }),
  'POST /v1/tickets, then a stream': exactly(byTicket(eventsOf)),
  'GET /v1/ui/chat/:id/stream': route({ id: encoded }),
  'GET /v1/ui/chat/:id/messages': route({ id: encoded }),
  'GET /v1/responses/:id': route({}, { world: responses, codes: { hidden: 'response_not_found' } }),
  'GET /v1/responses/:id/input_items': route({}, { world: responses, codes: { hidden: 'response_not_found' } }),
  'GET /v1/conversations/:id': route({ id: encoded }, ofConversation),
  'GET /v1/conversations/:id/items': route({ id: encoded }, ofConversation),
  'GET /v1/conversations/:id/items/:itemId': route({ id: encoded }, ofConversation),
  'rpc chat.history': rpc(sessionKey()),
  'rpc sessions.read': rpc(key()),
  'rpc agent.wait': rpc(({ key, id }) => ({ sessionKey: key, runId: id, timeoutMs: 10 })),
  'rpc agent.wait, by id alone': rpc(({ id }) => ({ runId: id, timeoutMs: 10 }), { world: runs }),
  'rpc agent.wait, of none': rpc((place) => ({ runId: ofNone(place), timeoutMs: 0 })),
  'ws subscribe, to one': socket(sessionKey({ after: '0', deltas: true })),
  'mcp sessions_history': tool(sessionKey()),
  'mcp events_wait, for one': tool(sessionKey({ after: '0', timeoutSeconds: 0 })),

  'POST /v1/sessions/:key/messages': body({ text: 'hi' }),
  'POST /v1/sessions/:key/messages, waiting': body({ text: 'hi' }, { query: '?wait=5' }),
  'POST /v1/sessions/:key/messages, behind many': queued,
  'POST /v1/sessions/:key/messages, append': body({ text: 'hi', mode: 'append' }),
  'POST /v1/sessions/:key/messages, later': body({ text: 'hi', sendAt: 4e12 }),
  'POST /v1/sessions/:key/messages, if unchanged': body({ text: 'hi' }, ifUnchanged),
  'POST /v1/sessions/:key/messages, /new': said('/new hi'),
  'POST /v1/sessions/:key/messages, /compact': said('/compact'),
  'POST /v1/sessions/:key/messages, /name x': said('/name x'),
  'POST /v1/sessions/:key/messages, /export x': said('/export x'),
  'POST /v1/sessions/:key/messages, /stop': said('/stop'),
  'POST /v1/sessions/:key/messages, /usage': said('/usage'),
  'POST /v1/sessions/:key/messages, /send on': said('/send on'),
  'POST /v1/sessions/:key/messages, /pair X': said('/pair X'),
  'POST /v1/sessions/:key/open': route(),
  'POST /v1/sessions/:key/stop': route(),
  'DELETE /v1/sessions/:key/runs/:runId': route(
    {},
    { world: waitingMessages, codes: { 403: 'stop_forbidden', 409: 'not_queued' } },
  ),
  'POST /v1/sessions/:key/deactivate': route(),
  'POST /v1/sessions/:key/read': route(),
  'POST /v1/sessions/:key/reset': route({}, unknownYet),
  'POST /v1/sessions/:key/compact': route(),
  'POST /v1/sessions/:key/checkpoint': route(),
  'GET /v1/sessions/:key/damage': route(),
  'POST /v1/sessions/:key/repair': route({ given: () => ({ reason: 'x' }) }, { codes: { 409: 'not_damaged' } }),
  'POST /v1/sessions/:key/fork': route(),
  'POST /v1/sessions/:key/fork, long ago': body({ atTime: longAgo }),
  'PATCH /v1/sessions/:key': body({ displayName: 'x' }),
  'PATCH /v1/sessions/:key, if unchanged': body({ displayName: 'x' }, ifUnchanged),
  'DELETE /v1/sessions/:key': route(),
  'DELETE /v1/sessions/:key, with its key': route({ query: '?mode=key' }),
  'POST /v1/inbound': route({ given: envelope }),
  'POST /v1/ui/chat': route({ given: ({ key }) => ({ id: key, messages: [user] }) }),
  'POST /v1/ui/chat, with an answer': route({ given: (place) => ({ id: place.key, messages: [answered(place)] }) }, waitingThere),
  'POST /v1/agui': route({ given: ({ key }) => ({ threadId: key, ...agui }) }),
  'POST /v1/agui, with an answer': route(
    {
      given: ({ key, id }) => ({
        threadId: key,
        runId: 'r',
        messages: [],
        resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }],
      }),
    },
    waitingThere,
  ),
  'POST /v1/chat/completions, by header': body(chat, { headers: ({ key }) => ({ 'x-natter-session': key }) }),
  'POST /v1/responses/:id/cancel': route({}, { world: responses, codes: { hidden: 'response_not_found' } }),
  'DELETE /v1/responses/:id': route(
    {},
    { world: responses, codes: { 409: 'response_in_conversation', hidden: 'response_not_found' } },
  ),
  'POST /v1/conversations/:id': route({ id: encoded, given: () => ({ metadata: { a: 'b' } }) }, ofConversation),
  'DELETE /v1/conversations/:id': route({ id: encoded }, ofConversation),
  'POST /v1/conversations/:id/items': route({ id: encoded, given: () => ({ items: [chat.messages[0]] }) }, ofConversation),
  'DELETE /v1/conversations/:id/items/:itemId': route({ id: encoded }, ofConversation),
  'POST /v1/responses, by conversation': route({ given: ({ key }) => ({ ...response, conversation: key }) }),
  'POST /v1/responses, after another': route(
    { given: ({ id }) => ({ ...response, previous_response_id: id }) },
    { world: responses, codes: { hidden: 'previous_response_not_found' } },
  ),
  'rpc chat.send': rpc(sessionKey({ message: 'hi' })),
  'rpc agent': rpc(sessionKey({ message: 'hi', timeoutSeconds: 5 })),
  'rpc sessions.reset': rpc(key()),
  'rpc sessions.compact': rpc(key({ timeoutSeconds: 0 })),
  'rpc sessions.checkpoint': rpc(key()),
  'rpc sessions.fork': rpc(key()),
  'rpc sessions.patch': rpc(key({ displayName: 'x' })),
  'rpc sessions.patch, sendPolicy': rpc(key({ sendPolicy: 'deny' })),
  'rpc sessions.delete': rpc(key()),
  'rpc sessions.delete, with its key': rpc(key({ mode: 'key' })),
  'mcp sessions_send': tool(sessionKey({ message: 'hi', timeoutSeconds: 0 })),

  'POST /v1/approvals/:id': route({ given: () => ({ verdict: 'deny' }) }, waiting),
  'POST /v1/approvals/:id, by session': route({ given: sessionKey({ verdict: 'deny' }) }, waiting),
  'rpc approvals.resolve': rpc(({ id: approvalId }) => ({ approvalId, verdict: 'deny' }), waiting),
  'mcp approvals_respond': tool(({ id: approvalId, key }) => ({ approvalId, sessionKey: key, decision: 'deny' }), waiting),

  'GET /v1/memory/:id': route({}, remembered),
  'GET /v1/memory, of one scope': (title) =>
    by(unlessEmpty(byHttp(title, { query: ({ key }) => `?scope=${encodeURIComponent(key)}` })), remembered),
  'POST /v1/memory': route({ given: ({ key }) => ({ text: 'a fact', scope: key }) }, remembered),
  'DELETE /v1/memory/:id': route({}, remembered),
  'rpc memory.get': rpc(({ id }) => ({ id }), remembered),
  'rpc memory.forget': rpc(({ id }) => ({ id }), remembered),

  'POST /v1/chat/completions': route({ given: () => chat }, plain),
  'POST /v1/chat/completions, of a user': route({ given: () => ({ ...chat, user: 'u' }) }, plain),
  'POST /v1/responses': route({ given: () => response }, plain),
  'POST /v1/conversations': route({ given: () => ({}) }, plain),
  // This gateway has no provider that embeds.
  'POST /v1/embeddings': route(
    { given: () => ({ model: 'x', input: 'a' }) },
    { ...plain, codes: { 400: 'unsupported_parameter' } },
  ),
  'POST /v1/ui/chat, under a word': route({ given: () => ({ id: 'word', messages: [user] }) }, plain),
  'POST /v1/agui, under a word': route({ given: () => ({ threadId: 'word', ...agui }) }, plain),
  'POST /v1/tickets': route({ given: () => ({ path: '/v1/events' }) }, plain),
  'POST /v1/page/codes': route({ given: () => ({}) }, plain),
  'POST /v1/page/logout': route({}, { ...plain, codes: { 400: 'invalid' } }),
  'GET /v1/me': route({}, plain),
  'GET /v1/ws': exactly(bySocket('status'), plain),
  'ws unsubscribe, of none': exactly(
    bySocket('unsubscribe', () => ({ subscription: '1' })),
    plain,
  ),
  'POST /mcp, of its tools': exactly(byMcp('tools/list'), plain),
  'GET /mcp': route({}, plain),
  'DELETE /mcp': route({}, plain),
  'GET /v1/models': route({}, plain),
  'GET /v1/models*': route({}, plain),
  'GET /v1/openapi.json': route({}, plain),
  'GET /v1/asyncapi.json': route({}, plain),
  'GET /metrics': route({}, plain),
  'GET /v1/metrics/history': route({}, plain),
  'GET /v1/audit': route({}, plain),
  'GET /v1/retention': route({}, plain),
  'GET /v1/hosts': route({}, plain),
  'GET /v1/skills': route({}, plain),
  'GET /v1/config': route({}, plain),
  'GET /v1/doctor': route({}, plain),
  'GET /v1/log': route({}, plain),
  'rpc hosts.list': rpc(none, plain),
  'rpc skills.list': rpc(none, plain),
  'rpc config.get': rpc(none, plain),
  'rpc doctor.run': rpc(none, plain),
  'rpc log.tail': rpc(none, plain),
  'GET /v1/scheduled-messages': route({}, plain),
  'DELETE /v1/scheduled-messages/:runId': route({}, { world: scheduled }),
  'GET /v1/dead-letters': route({}, plain),
  'GET /v1/dead-letters/:seq': route({}, { world: deadLetters }),
  'POST /v1/dead-letters/:seq/resend': route({}, { world: deadLetters }),
  'DELETE /v1/dead-letters/:seq': route({ query: '?reason=spam' }, { world: deadLetters }),
  'rpc deadLetters.list': rpc(none, plain),
  'rpc deadLetters.get': rpc(seqOf, { world: deadLetters }),
  'rpc deadLetters.resend': rpc(seqOf, { world: deadLetters }),
  'rpc deadLetters.discard': rpc((place) => ({ ...seqOf(place), reason: 'spam' }), { world: deadLetters }),
  'GET /v1/deliveries': route({}, plain),
  'GET /v1/deliveries/delivered': route({}, plain),
  'GET /v1/deliveries/:seq': route({}, { world: deliveries }),
  'POST /v1/deliveries/:seq/repeat': route({}, { world: deliveries }),
  'POST /v1/deliveries/:seq/leave': route({}, { world: deliveries }),
  'rpc deliveries.list': rpc(none, plain),
  'rpc deliveries.delivered': rpc(none, plain),
  'rpc deliveries.get': rpc(seqOf, { world: deliveries }),
  'rpc deliveries.repeat': rpc(seqOf, { world: deliveries }),
  'rpc deliveries.leave': rpc(seqOf, { world: deliveries }),
  'POST /v1/deliveries/resume': route({ given: ofChannel }, ofParked),
  'rpc deliveries.resume': rpc(ofChannel, ofParked),
  'GET /v1/pairing': route({}, plain),
  'POST /v1/pairing/approve': route({ given: withCode }, ofStranger),
  'POST /v1/pairing/deny': route({ given: withCode }, ofStranger),
  'POST /v1/pairing/revoke': route({ given: ofSender }, ofPaired),
  'rpc pairing.list': rpc(none, plain),
  'rpc pairing.approve': rpc(withCode, ofStranger),
  'rpc pairing.deny': rpc(withCode, ofStranger),
  'rpc pairing.revoke': rpc(ofSender, ofPaired),
  'GET /v1/tokens': route({}, plain),
  'POST /v1/tokens': route({ given: () => ({ role: 'read-only' }) }, plain),
  'POST /v1/tokens/:id/rotate': route({}, { world: tokens }),
  'DELETE /v1/tokens/:id': route({}, { world: tokens }),
};
