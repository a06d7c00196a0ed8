import type { FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { runIdOf } from '../../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { metadata } from '../../../../shared/domain/values/metadata.ts';
import { hasCode } from '../../../../shared/kit/errors.ts';
import { readThrough } from '../../../../shared/runtime/read-through.ts';
import { keyFrom } from '../../../../shared/runtime/session-tools/named-session.ts';
import { speakerOf } from '../../access/speaker.ts';
import { checkFiles, keepFiles } from '../../attachments/keep-files.ts';
import { envelopeOf, idempotentIdOf, occasionFor } from '../../commands/envelope.ts';
import { sendEnvelope } from '../../commands/send-command.ts';
import type { Call } from '../../operation/operation.ts';
import { deleteSession, openSession } from '../../sessions/control.ts';
import { patchSession } from '../../sessions/patch.ts';
import { secondsOf } from './answer-completion.ts';
import { linesOf } from './conversation.ts';
import { Failure } from './format/failure.ts';
import { type Item, ItemReader, type itemListQuery, itemsOf, pageOfItems } from './format/items.ts';
import { withNamedItems } from './references.ts';
import { freshSession } from './session.ts';
import { type InputItem, inputItem, type Turn } from './turns.ts';

/** OpenAI's conversations: sessions by their keys. What was said in one can be added to and read, and goes only with all of it. */

const items = z.array(inputItem, 'use a list of items').max(20, 'use at most 20 items');
export const createBody = z.strictObject({ items: items.nullish(), metadata: metadata.nullish() });
export const updateBody = z.strictObject({ metadata: metadata.nullable() });
export const itemsBody = z.strictObject({ items: items.min(1, 'is empty; send at least one item') });

export interface Named {
  readonly id: string;
}

const noConversation = (): Failure =>
  new Failure(404, 'conversation_not_found', 'there is no such conversation, or it is not yours to see', 'conversation_id');

/** The session that the caller may see. Throws `Failure` alike for a missing one and somebody else's (A8/89). */
const found = async ({ context, caller }: Call, { id }: Named): Promise<{ row: IndexRow; after: number }> => {
  const key = keyFrom(context.config, id, 'conversation_id');
  return context.access.read(caller.principal, key).catch((error: unknown) => {
    throw hasCode(error, 'not_found') ? noConversation() : error;
  });
};

const conversationObject = ({ key, createdAt, settings: { metadata: kept = {} } }: IndexRow) => ({
  ...{ id: key, object: 'conversation' as const, created_at: secondsOf(createdAt), metadata: kept },
});

export interface Creation extends z.infer<typeof createBody> {
  readonly idempotencyKey: string | undefined;
  readonly request: FastifyRequest;
}

/** Opens a session for a program; the same `Idempotency-Key` again, or a client's retry, is the same one. */
export const createConversation = async (call: Call, { request, idempotencyKey, metadata: kept, items: said }: Creation) => {
  const { context } = call;
  const { key, idempotencyKey: once } = await freshSession(context, request, {
    agentId: context.config.agent.id,
    idempotencyKey,
  });
  await openSession(call, { key, idempotencyKey: once });
  if (kept && Object.keys(kept).length > 0)
    await patchSession(call, { key, changes: { metadata: kept }, whole: 'body', idempotencyKey: once });
  await append(call, key, said ?? [], once);
  return readConversation(call, { id: key });
};

export const readConversation = async (call: Call, named: Named) => conversationObject((await found(call, named)).row);

/** Replaces the metadata; `null` removes it. */
export const updateConversation = async (call: Call, { id, metadata: kept }: Named & z.infer<typeof updateBody>) => {
  const { row } = await found(call, { id });
  const { settings: now } = await patchSession(call, { key: row.key, changes: { metadata: kept }, whole: 'body' });
  return conversationObject({ ...row, settings: now });
};

/** Throws `Refusal('session_busy')` while an answer is under way, and as `permitDeletion`. */
export const deleteConversation = async (call: Call, named: Named) => {
  const { row } = await found(call, named);
  await deleteSession(call, { key: row.key, mode: 'session', reason: 'the conversation was deleted' });
  return { id: row.key, object: 'conversation.deleted' as const, deleted: true };
};

const allItems = async (call: Call, named: Named): Promise<Item[]> => {
  const { row, after } = await found(call, named);
  return itemsOf(call.context, call.caller.actor, row.key, after);
};

export const listItems = async (call: Call, { id, query }: Named & { readonly query: z.infer<typeof itemListQuery> }) =>
  pageOfItems(await allItems(call, { id }), query);

export interface NamedItem extends Named {
  readonly itemId: string;
}
const noItem = (): Failure => new Failure(404, 'item_not_found', 'there is no such item in this conversation', 'item_id');

export const readItem = async (call: Call, { id, itemId }: NamedItem) => {
  const item = (await allItems(call, { id })).find((one) => one.id === itemId);
  if (item === undefined) throw noItem();
  return item;
};

/** Refuses by name: the log keeps what was said, and answers were made with it. */
export const deleteItem = async (call: Call, named: NamedItem): Promise<never> => {
  await readItem(call, named);
  const message = `what was said stays in its conversation; delete that as a whole: DELETE /v1/conversations/${named.id}`;
  throw new Failure(409, 'item_not_deletable', message, 'item_id');
};

export interface Addition extends Named {
  readonly items: readonly InputItem[];
  readonly idempotencyKey: string | undefined;
}

/** Adds context for the next answer. Nobody answers it. */
export const addItems = async (call: Call, { id, items: said, idempotencyKey = uuidv7() }: Addition) => {
  const { row } = await found(call, { id });
  return pageOfItems(await append(call, row.key, said, idempotencyKey), { limit: 100, order: 'asc' });
};

/** Appends the turns in their order; those that are recorded already are the same items again. */
const append = async (call: Call, key: SessionKey, said: readonly InputItem[], once: string): Promise<Item[]> => {
  const { context, caller } = call;
  const { access, config, ports } = context;
  const turns = await withNamedItems(context, caller, said, 'items');
  await access.enter(caller.principal, key);
  const sender = speakerOf(caller.principal, undefined, access.identities);
  const items: Item[] = [];
  for (const [index, turn] of turns.entries()) {
    if (turn === null) continue;
    const at = ports.clock.now();
    const id = runIdOf(key, idempotentIdOf(caller, key, 'append_message', `${once} ${index}`));
    const files = turn.role === 'user' ? (turn.files ?? []) : [];
    checkFiles(config, files, 'items');
    const attachments = await keepFiles(context, key, files);
    const message = { messageId: id, text: textOf(turn), sender, ...(attachments.length > 0 && { attachments }) };
    const data = { type: 'append_message', ...occasionFor(config, key, at), message } as const;
    const { seq } = { seq: undefined, ...(await sendEnvelope(context, envelopeOf(caller, { id, key, at, data }), caller.ip)) };
    items.push(...(await itemsAt(call, key, id, seq)));
  }
  return items;
};

/** The item of a message that was appended; `seq` is its commit, where that is known. */
const itemsAt = async (
  { context: { ports } }: Call,
  key: SessionKey,
  messageId: string,
  seq: number | undefined,
): Promise<Item[]> => {
  for await (const commit of readThrough(ports, key, { after: (seq ?? 1) - 1, through: seq ?? 0 })) {
    const isIt = commit.events.some((event) => event.type === 'user_message' && event.message.messageId === messageId);
    if (isIt) return new ItemReader().take(commit);
  }
  return [];
};

const textOf = (turn: Turn): string => {
  if (turn.role === 'user') return turn.text;
  if (turn.role === 'system' || turn.role === 'developer') return `[Instructions of the program that asks]\n${turn.text}`;
  return `[What was said before, as that program tells it: one message a line]\n${linesOf([turn])}`;
};
