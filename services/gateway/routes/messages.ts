import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { sessionIdsOf } from '../../../shared/domain/projections/session-ids.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { deliveryTarget, message, queueRule, sender } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { commandIdOf, envelopeOf, occasionFor } from '../commands.ts';
import type { GatewayContext } from '../context.ts';
import { type Cursor, isAfter, logPosition } from '../cursor.ts';
import { conditionOf } from '../etag.ts';
import { pageOf } from '../history.ts';
import { afterParameter, bodyOf, keyOf, limitParameter, queryOf, waitParameter } from '../input.ts';
import { accept, refuseWhenFull } from '../posting.ts';
import { commandSaid } from '../said.ts';
import { checkSaid, speakerOf } from '../speaker.ts';
import { waiting } from '../waiting.ts';

export const postBody = z.strictObject({
  text: z.string().min(1, 'is empty; send some text').max(limits.commandBytes),
  messageId: message.shape.messageId.optional(),
  sender: sender.pick({ id: true, name: true }).strict().optional(),
  deliverTo: deliveryTarget.strict().optional(),
  /** `append`: remembered without a turn (A5/69). */
  mode: z.enum(['post', 'append']).default('post'),
  /** What it does when it finds a turn running (B6). Default: as configured. */
  queue: queueRule.shape.mode.optional(),
  /** `false`: a text such as `/new` is for the model and commands nothing (A11). */
  commands: z.boolean().default(true),
  sendAt: z.union([z.int().min(1), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))]).optional(),
});
type PostBody = z.infer<typeof postBody>;
export const postQuery = z.object({ wait: waitParameter });
export const listQuery = z.object({ after: afterParameter.optional(), limit: limitParameter(100) });

/** What a list says of an event; `null` if the event is no message. */
const messageIn = (event: SessionEvent): object | null => {
  switch (event.type) {
    case 'user_message': {
      const { messageId, text, sender } = event.message;
      return { role: 'user', messageId, text, sender, ...(event.turnId !== undefined && { runId: event.turnId }) };
    }
    case 'assistant_message':
      return { role: 'assistant', messageId: event.messageId, text: event.text, runId: event.turn.id };
    default:
      return null;
  }
};

/** The messages of a commit after a cursor; a message's `id` is that of its event. */
const messagesAfter = (after: Cursor, commit: RecordedCommit): { cursor: Cursor; item: object }[] => {
  const { seq, at } = commit;
  const sessionIds = sessionIdsOf(commit);
  return commit.events.flatMap((event, index) => {
    const said = isAfter(after, seq, index) ? messageIn(event) : null;
    return said === null
      ? []
      : [{ cursor: { seq, index }, item: { id: `${seq}.${index}`, seq, at, sessionId: sessionIds[index], ...said } }];
  });
};

const commandOf = (
  { access, config }: GatewayContext,
  request: FastifyRequest,
  key: SessionKey,
  body: PostBody,
  now: number,
): CommandEnvelope => {
  const type = body.mode === 'append' ? 'append_message' : 'post_message';
  const id = commandIdOf(request, key, type);
  const from = speakerOf(request.principal, body.sender, access.identities);
  checkSaid(request.principal, body);
  if (type === 'append_message' && body.queue !== undefined) {
    throw new NatterError('invalid', 'queue: is for a message that asks for a turn; leave it out', { field: 'queue' });
  }
  const message = {
    messageId: body.messageId ?? id,
    text: body.text,
    sender: from,
    ...(body.deliverTo && { deliverTo: body.deliverTo }),
  };
  const at = body.sendAt ?? now;
  const data: SessionCommand =
    type === 'append_message'
      ? { type, ...occasionFor(config, key, at), message }
      : commandSaid(config, { key, at, message, principal: request.principal, literal: !body.commands, mode: body.queue });
  return envelopeOf(request, { id, key, at, data });
};

/** The generation of the session that a plan is made in, or of the one that it will begin. */
const generationAt = async ({ sessions }: GatewayContext, key: SessionKey): Promise<number> => {
  const row = await sessions.row(key);
  if (row === null) return 1;
  return row.deleted || row.generation === 0 ? row.generation + 1 : row.generation;
};

/** `POST` and `GET /v1/sessions/{key}/messages`. */
export const messageRoutes = (app: FastifyInstance, context: GatewayContext): void => {
  const { ports, access, runs } = context;

  const schedule = async (envelope: CommandEnvelope, reply: FastifyReply): Promise<FastifyReply> => {
    if (envelope.at <= ports.clock.now()) {
      throw new NatterError('invalid', 'sendAt: is in the past; use milliseconds since 1970 or ISO 8601', { field: 'sendAt' });
    }
    const run = { runId: envelope.id, status: 'scheduled' } as const;
    const ifGeneration = await generationAt(context, envelope.key);
    await ports.commands.schedule(run.runId, envelope.at, { ...envelope, ifGeneration });
    runs.note(envelope.key, run);
    return reply.code(202).send({ ...run, sendAt: envelope.at });
  };

  app.post('/v1/sessions/:key/messages', async (request, reply) => {
    const key = keyOf(context.config, request);
    const { wait } = queryOf(postQuery, request);
    const body = bodyOf(postBody, request);
    const envelope = commandOf(context, request, key, body, ports.clock.now());
    const condition = conditionOf(context, request, key);
    const seen = await access.enter(request.principal, key);
    const when = await condition();
    if (body.sendAt !== undefined) {
      if (when.ifSeq !== undefined)
        throw new NatterError('invalid', 'if-match: means the session as it is now; leave it out with "sendAt"', {
          field: 'if-match',
        });
      if (wait > 0) throw new NatterError('invalid', 'wait: cannot wait for a message with "sendAt"', { field: 'wait' });
      return schedule(envelope, reply);
    }
    if (envelope.data.type === 'post_message') await refuseWhenFull(context, key, envelope.data.queue);
    if (wait === 0) {
      const { run, duplicate } = await accept(context, { ...envelope, ...when }, { waitMs: 0, signal: context.closing, seen });
      return reply.code(202).send({ ...run, duplicate });
    }
    return reply.send(
      await waiting(
        context,
        reply,
        async (signal) => (await accept(context, { ...envelope, ...when }, { waitMs: wait * 1_000, signal, seen })).run,
      ),
    );
  });

  app.get('/v1/sessions/:key/messages', async (request, reply) => {
    const key = keyOf(context.config, request);
    const { after = { seq: 0, index: -1 }, limit } = queryOf(listQuery, request);
    const seen = await access.read(request.principal, key);
    const from = Math.max(seen.after, logPosition(after));
    const page = await pageOf(ports.events, { after, limit, from, key }, (commit) => messagesAfter(after, commit));
    return reply.send({ messages: page.items, next: page.next, more: page.more });
  });
};
