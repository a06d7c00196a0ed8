/**
 * One whole input of each way by which something outside becomes a command: all fields that it takes, each with a value that is accepted. A
 * title is an operation, or with `rpc` or `mcp` before it a method or a tool; what follows a comma tells several of one apart.
 */

export interface EdgeInput {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const person = { id: 'ann', name: 'Ann' };
const target = { channel: 'irc', to: 'x', accountId: 'x', threadId: 'x' };
const file = { data: 'aGVsbG8=', type: 'text/plain', name: 'a.txt' };
const schema = { type: 'object', properties: {} };
const programTool = { name: 'look', description: 'x', parameters: schema };
const reason = 'x';
const text = 'hello';
const settings = {
  ...{ sendPolicy: 'allow', model: null, thinkingLevel: 'low', verboseLevel: 'on', displayName: 'x' },
  ...{
    queueMode: 'collect',
    activation: 'always',
    description: 'x',
    pinned: true,
    labels: ['x'],
    icon: '🌱',
    metadata: { x: 'x' },
  },
};
const place = { id: 'x', kind: 'group', threadId: 'x', label: 'x', subject: 'x', channel: 'x', space: 'x' };
const source = { kind: 'chat', interactive: true, platform: 'x', triggerId: 'x', type: 'group', ids: { x: 'x' } };
const inbound = {
  ...{ id: 'x', idScope: 'account', order: '1', kind: 'message', v: 1, replyTo: 'x', channel: 'irc', accountId: 'x' },
  attachments: [{ name: 'x', type: 'x', bytes: 1, url: 'x', id: 'x' }],
  ...{ conversation: place, provider: 'x', from: 'x', to: 'x', sender: person, text, mentioned: true, directed: true },
  ...{ at: 1_767_603_600_000, agentId: 'main', deliverTo: target, source },
};
const aboutAnother = { ...inbound, order: undefined, target: 'x' };

const functionTool = { type: 'function', function: { name: 'look', description: 'x', parameters: schema, strict: true } };
const call = { id: 'x', type: 'function', function: { name: 'look', arguments: '{}' } };
const sampling = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 1,
  frequency_penalty: 1,
  seed: 1,
  stop: ['x'],
  logit_bias: { 1: 1 },
};
const json = { name: 'x', description: 'x', schema, strict: true };
const chat = {
  ...{ model: 'natter', stream: false, stream_options: { include_usage: true } },
  ...{ tools: [functionTool], tool_choice: 'required', parallel_tool_calls: true },
  ...{ ...sampling, max_tokens: 1, reasoning_effort: 'low', include_reasoning: true },
  response_format: { type: 'json_schema', json_schema: json },
};
const said = [
  { role: 'system', content: 'x' },
  { role: 'user', content: [{ type: 'text', text }] },
  { role: 'assistant', content: 'x', refusal: 'x', tool_calls: [call] },
  { role: 'tool', content: 'x', tool_call_id: 'x' },
];
const items = [
  { type: 'message', role: 'developer', content: 'x' },
  { type: 'function_call', call_id: 'x', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'x', output: 'x' },
];
const question = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
const response = {
  ...{ model: 'natter', stream: false, instructions: 'x', store: true, background: false, max_output_tokens: 1 },
  ...{ reasoning: { effort: 'low', summary: 'auto' }, text: { format: { type: 'json_schema', ...json } } },
  ...{ tools: [{ type: 'function', ...functionTool.function }], tool_choice: 'required' },
};
const uiPart = { type: 'text', text };
const uiFile = { type: 'file', url: 'data:text/plain;base64,aGVsbG8=', mediaType: 'text/plain', filename: 'a.txt' };
const toolPart = { type: 'tool-look', toolCallId: 'x', state: 'output-available', output: 'x' };
const context = [{ description: 'x', value: 'x' }];
const agui = { tools: [programTool], context };

const inPath = (key: string): EdgeInput => ({ path: { key } });
const once = { 'idempotency-key': 'x' };
/** An operation of the session in the path. */
const ofSession =
  (body?: object, query?: object) =>
  (key: string): EdgeInput => ({ ...inPath(key), headers: once, ...(body && { body }), ...(query && { query }) });
/** A session that is known; the wait for an answer is none. */
const asking = (key: string) => ({ ...once, 'x-natter-session': key, prefer: 'wait=0' });

/** By title; the session is known already. */
export const edges: Readonly<Record<string, (key: string) => EdgeInput>> = {
  patchSession: ofSession(settings),
  'rpc sessions.patch': (key) => ({ body: { key, ...settings } }),
  resetSession: ofSession({ reason }),
  'rpc sessions.reset': (key) => ({ body: { key, reason } }),
  deleteSession: ofSession(undefined, { mode: 'key' }),
  'rpc sessions.delete': (key) => ({ body: { key, mode: 'key', reason } }),
  openSession: ofSession({}),
  deactivateSession: ofSession({ reason }),
  stopSession: ofSession({ reason }),
  cancelRun: (key) => ({ path: { key, runId: 'x' }, headers: once }),
  checkpointSession: ofSession({}),
  'rpc sessions.checkpoint': (key) => ({ body: { key } }),
  forkSession: ofSession({ atSeq: 1, reason }),
  'forkSession, by time': ofSession({ atTime: '2099-01-31T12:00:00Z' }),
  'rpc sessions.fork': (key) => ({ body: { key, atSeq: 1, reason } }),
  'rpc sessions.fork, by time': (key) => ({ body: { key, atTime: '2099-01-31T12:00:00Z' } }),
  compactSession: ofSession({ instructions: 'x' }, { wait: '0' }),
  'rpc sessions.compact': (key) => ({ body: { key, instructions: 'x', timeoutSeconds: 0 } }),
  repairSession: ofSession({ reason }),
  answerApproval: (sessionKey) => ({ path: { id: 'x' }, headers: once, body: { verdict: 'deny', reason, sessionKey } }),
  'rpc approvals.resolve': (sessionKey) => ({ body: { approvalId: 'x', verdict: 'deny', reason, sessionKey } }),
  'mcp approvals_respond': (sessionKey) => ({ body: { approvalId: 'x', decision: 'deny', reason, sessionKey } }),
  addMemory: (key) => ({ headers: once, body: { text, scope: `session:${key}` } }),
  forgetMemory: () => ({ path: { id: '1-0' }, headers: once, query: { reason } }),
  'rpc memory.forget': () => ({ body: { id: '1-0', reason } }),
  inbound: () => ({ body: inbound }),
  'inbound, to a session': (sessionKey) => ({ body: { ...inbound, sessionKey } }),
  'inbound, direct': () => ({ body: { ...inbound, conversation: { id: 'x', kind: 'direct' } } }),
  'inbound, in words that say whom': () => ({ body: { ...inbound, text: '/name x', order: undefined, idScope: undefined } }),
  'inbound, an edit': () => ({ body: { ...aboutAnother, kind: 'edit' } }),
  'inbound, a deletion': () => ({ body: { ...aboutAnother, kind: 'delete', text: '' } }),
  'inbound, a reaction': () => ({
    body: { ...aboutAnother, kind: 'reaction', text: '', reaction: { emoji: 'x', removed: true } },
  }),
  'inbound, a button': () => ({ body: { ...aboutAnother, kind: 'button', text: '', button: { data: 'x' } } }),
  'inbound, about the conversation': () => ({ body: { ...inbound, order: undefined, kind: 'meta', text: '' } }),
  postMessage: ofSession({
    text,
    messageId: 'x',
    sender: person,
    deliverTo: target,
    mode: 'post',
    queue: 'collect',
    commands: true,
  }),
  'postMessage, with a file': ofSession({ text, attachments: [file] }, { wait: '0' }),
  'postMessage, appended': ofSession({ text, messageId: 'x', sender: person, deliverTo: target, mode: 'append' }),
  'postMessage, later': ofSession({ text, sendAt: '2099-01-31T12:00:00Z' }),
  'postMessage, a name': ofSession({ text: '/name x' }),
  'postMessage, a summary': ofSession({ text: '/compact x' }),
  'postMessage, a new session': ofSession({ text: '/new hello' }),
  'postMessage, a code': ofSession({ text: '/pair x' }),
  'postMessage, an answer': ofSession({ text: '/deny x x' }),
  'rpc chat.send': (sessionKey) => ({ body: { sessionKey, message: text, attachments: [file], idempotencyKey: 'x' } }),
  'rpc agent': (sessionKey) => ({
    body: { sessionKey, message: text, timeoutSeconds: 0, attachments: [file], idempotencyKey: 'x' },
  }),
  'mcp sessions_send': (sessionKey) => ({ body: { sessionKey, message: text, timeoutSeconds: 0, attachments: [file] } }),
  createChatCompletion: (key) => ({ headers: asking(key), body: { ...chat, messages: [...said, said[1]] } }),
  'createChatCompletion, of a user': () => ({
    headers: { prefer: 'wait=0' },
    body: { ...chat, user: 'x', messages: [...said, said[1]] },
  }),
  'createChatCompletion, with results': (key) => ({ headers: asking(key), body: { ...chat, messages: said } }),
  createResponse: (conversation) => ({
    headers: { ...once, prefer: 'wait=0' },
    body: { ...response, conversation, input: [...items, question] },
  }),
  'createResponse, with results': (conversation) => ({
    headers: { ...once, prefer: 'wait=0' },
    body: { ...response, conversation, input: items },
  }),
  'createResponse, of an item': (id) => ({
    headers: { ...once, prefer: 'wait=0' },
    body: { ...response, conversation: { id }, input: [{ type: 'item_reference', id: 'x' }, question] },
  }),
  'createResponse, after another': () => ({
    headers: { prefer: 'wait=0' },
    body: { ...response, user: 'x', previous_response_id: 'resp_x', input: 'hello' },
  }),
  cancelResponse: () => ({ path: { id: 'x' } }),
  deleteResponse: () => ({ path: { id: 'x' } }),
  createConversation: () => ({ headers: once, body: { metadata: { x: 'x' }, items: [...items, question] } }),
  'createConversation, of an item': () => ({ headers: once, body: { items: [{ type: 'item_reference', id: 'x' }] } }),
  'createConversationItems, of an item': (id) => ({ path: { id }, body: { items: [{ type: 'item_reference', id: 'x' }] } }),
  updateConversation: (id) => ({ path: { id }, body: { metadata: { x: 'x' } } }),
  deleteConversation: (id) => ({ path: { id } }),
  createConversationItems: (id) => ({
    path: { id },
    query: { include: 'x', 'include[]': 'x' },
    headers: once,
    body: { items: [...items, question] },
  }),
  streamUiChat: (id) => ({
    body: { id, messages: [{ role: 'user', id: 'x', parts: [uiPart, uiFile] }], tools: [programTool], trigger: 'submit-message' },
  }),
  'streamUiChat, with results': (id) => ({
    body: { id, messages: [{ role: 'assistant', id: 'x', parts: [toolPart] }], tools: [programTool], messageId: 'x' },
  }),
  streamAguiRun: (threadId) => ({
    body: { threadId, runId: 'x', messages: [{ role: 'user', id: 'x', content: text }], ...agui },
  }),
  'streamAguiRun, with results': (threadId) => ({
    body: { threadId, runId: 'x', messages: [{ role: 'tool', toolCallId: 'x', content: 'x', error: 'x' }], ...agui },
  }),
  'streamAguiRun, an answer': (threadId) => {
    const payload = { approved: true, always: true, reason };
    return { body: { threadId, runId: 'x', messages: [], resume: [{ interruptId: 'x', status: 'resolved', payload }] } };
  },
};

/** What no session is told of by the input, each with its reason. */
export const without: Readonly<Record<string, string>> = {
  ...{ createToken: 'a token is no session', revokeToken: 'the same', rotateToken: 'the same' },
  ...{ resendDeadLetter: 'what was sent is sent again, byte for byte', 'rpc deadLetters.resend': 'the same' },
  ...{ discardDeadLetter: 'it is removed', 'rpc deadLetters.discard': 'the same' },
  ...{ repeatDelivery: 'it takes a number; the message is in the log', 'rpc deliveries.repeat': 'the same' },
  cancelScheduledMessage: 'it is removed before a session hears of it',
  ...{ leaveDelivery: 'it is removed', 'rpc deliveries.leave': 'the same' },
  ...{ resumeAccounts: 'the delivery service is told, not a session', 'rpc deliveries.resume': 'the same' },
  ...{ approvePairing: 'who may write is not in the log', denyPairing: 'the same', revokePairing: 'the same' },
  ...{ 'rpc pairing.approve': 'the same', 'rpc pairing.deny': 'the same', 'rpc pairing.revoke': 'the same' },
  createEmbeddings: 'nothing is recorded',
  deleteConversationItem: 'it is always refused',
};
