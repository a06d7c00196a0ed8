import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ClientRequest } from '../../../../shared/domain/values/client-request.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { bodyOf } from '../../http/input.ts';
import { withNamedItems } from './references.ts';
import { clientRequestIn, unsupported } from './settings.ts';
import { chatTurn, inputItem, type Turn } from './turns.ts';

/** The input, in OpenAI's two forms. Unknown fields are ignored. Throws `NatterError('invalid')` and `'unsupported'` that name the field. */

/** A request of either kind. */
export interface CompletionRequest {
  readonly model: string;
  readonly turns: readonly Turn[];
  /** The name of the turns in the body. */
  readonly field: 'messages' | 'input';
  readonly client: ClientRequest | undefined;
  /** Nobody may read the answer later. */
  readonly isUnstored: boolean;
  readonly stream: boolean;
  /** Answered once the run is recorded; its answer is read later. */
  readonly isBackground: boolean;
  readonly includeUsage: boolean;
  /** Names the session, as the next two fields do. */
  readonly user: string | undefined;
  readonly conversation: string | undefined;
  readonly previousResponseId: string | undefined;
}

const missing = 'name the agent, such as "natter"';
const trueOrFalse = z.boolean('use true or false').nullish();
const common = {
  model: z.string(missing).min(1, missing),
  stream: trueOrFalse,
  user: z.string('use a text').min(1, 'is empty; leave it out').max(1_024, 'use at most 1,024 characters').nullish(),
};
export const chatBody = z.object({
  ...common,
  messages: z.array(chatTurn, 'use a list of messages').min(1, 'is empty; send at least one message'),
  stream_options: z.object({ include_usage: trueOrFalse }, 'use {"include_usage": true}').nullish(),
});
export const responsesBody = z.object({
  ...common,
  input: z
    .preprocess(
      (input) => (typeof input === 'string' ? [{ role: 'user', content: input }] : input),
      z.array(inputItem, 'use a text or a list of messages').min(1, 'is empty; send at least one message'),
    )
    .meta({ description: 'a text, or a list of messages', type: ['string', 'array'] }),
  instructions: z.string('use a text').nullish(),
  store: trueOrFalse,
  background: trueOrFalse,
  conversation: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)], 'use a session key').nullish(),
  previous_response_id: z.string('use the id of a response').nullish(),
});

export const readChatRequest = (request: FastifyRequest): CompletionRequest => {
  const { model, messages, stream, stream_options: options, user } = bodyOf(chatBody, request);
  return {
    model,
    turns: messages,
    field: 'messages',
    client: clientRequestIn(request.body),
    isUnstored: false,
    isBackground: false,
    stream: stream === true,
    includeUsage: options?.include_usage === true,
    user: user ?? undefined,
    conversation: undefined,
    previousResponseId: undefined,
  };
};

/** Throws `Failure` as well, for an item that the request names and that is not there. */
export const readResponseRequest = async (context: GatewayContext, request: FastifyRequest): Promise<CompletionRequest> => {
  const body = bodyOf(responsesBody, request);
  if (body.background && body.store === false) throw unsupported('background', 'nobody could read the answer; leave out store');
  const items = await withNamedItems(context, request, body.input, 'input');
  const instructions: Turn[] = body.instructions ? [{ role: 'system', text: body.instructions }] : [];
  return {
    model: body.model,
    turns: [...instructions, ...items.filter((turn) => turn !== null)],
    field: 'input',
    client: clientRequestIn(request.body),
    isUnstored: body.store === false,
    isBackground: body.background === true,
    stream: body.stream === true,
    includeUsage: true,
    user: body.user ?? undefined,
    conversation: body.conversation ?? undefined,
    previousResponseId: body.previous_response_id ?? undefined,
  };
};
