import { z } from 'zod';
import type { SessionKey } from '../../../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../../../shared/domain/session/events.ts';
import { withoutSilence } from '../../../../../shared/domain/values/silence.ts';
import type { ToolCall } from '../../../../../shared/domain/values/types.ts';
import { NatterError } from '../../../../../shared/kit/errors.ts';
import { orQuarantined } from '../../../../../shared/kit/or-quarantined.ts';
import type { GatewayContext } from '../../../context/gateway-context.ts';

/** What was said in a session, as items of OpenAI's conversations. */

export interface Item {
  /** By the place in the log, but of calls by their own ids. */
  readonly id: string;
  readonly type: 'message' | 'function_call' | 'function_call_output';
  readonly [field: string]: unknown;
}

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
export const refusalPart = (refusal: string) => ({ type: 'refusal', refusal });

export const callItem = ({ callId, tool: name, arguments: written }: ToolCall, isDone = true) => ({
  ...{ type: 'function_call' as const, id: `fc_${callId}`, call_id: callId, name },
  ...{ arguments: isDone ? written : '', status: isDone ? 'completed' : 'in_progress' },
});

/** The items of commits in their order. What the agent's own tools did is not among them. */
export class ItemReader {
  /** Calls that the program made. */
  readonly #calls = new Set<string>();
  /** Texts that were edited, and messages that were withdrawn (`null`), by the ids of their events. */
  readonly #revised: ReadonlyMap<string, string | null>;

  constructor(revised: ReadonlyMap<string, string | null> = new Map()) {
    this.#revised = revised;
  }

  take({ seq, events }: RecordedCommit): Item[] {
    return events.flatMap((event, index) => this.#itemsOf(event, `${seq}.${index}`));
  }

  #itemsOf(event: SessionEvent, place: string): Item[] {
    const message = (role: string, part: object): Item => ({
      ...{ type: 'message', id: `msg_${place}`, status: 'completed', role },
      content: [part],
    });
    switch (event.type) {
      case 'user_message': {
        const text = this.#revised.get(place);
        return text === null ? [] : [message('user', { type: 'input_text', text: text ?? event.message.text })];
      }
      case 'model_step': {
        const text = event.flush ? '' : withoutSilence(event.text);
        const calls = (event.calls ?? []).filter(({ client }) => client);
        for (const { callId } of calls) this.#calls.add(callId);
        const said = event.refused ? refusalPart(text) : textPart(text);
        return [...(text === '' ? [] : [message('assistant', said)]), ...calls.map((call) => callItem(call))];
      }
      case 'tool_result': {
        const { callId, text: output } = event;
        if (!this.#calls.has(callId)) return [];
        return [{ type: 'function_call_output', id: `fco_${callId}`, call_id: callId, output, status: 'completed' }];
      }
      default:
        return [];
    }
  }
}

/** What commits say of the texts of earlier messages. */
const revisionsIn = (commits: readonly RecordedCommit[]): ReadonlyMap<string, string | null> =>
  new Map(
    commits.flatMap(({ events }) =>
      events.flatMap((event): [string, string | null][] => {
        if (event.type === 'message_withdrawn') return [[event.of, null]];
        return event.type === 'message_edited' ? [[event.of, event.text]] : [];
      }),
    ),
  );

/** All items of a session after a sequence, oldest first. */
export const itemsOf = (
  { ports, replays }: Pick<GatewayContext, 'ports' | 'replays'>,
  actor: string,
  key: SessionKey,
  after: number,
): Promise<Item[]> => {
  const read = async (): Promise<Item[]> => {
    const commits: RecordedCommit[] = [];
    for await (const commit of ports.events.read(key, { after })) if (isToldOf(commit)) commits.push(commit);
    const reader = new ItemReader(revisionsIn(commits));
    return commits.flatMap((commit) => reader.take(commit));
  };
  return replays.during(actor, () => orQuarantined(read()));
};

const told: ReadonlySet<string> = new Set(['user_message', 'model_step', 'tool_result', 'message_edited', 'message_withdrawn']);
const isToldOf = ({ events }: RecordedCommit): boolean => events.some(({ type }) => told.has(type));

// ------------------------------------------------------------------------------------------------ lists

const include = z.union([z.string(), z.array(z.string())]).optional();
/** As OpenAI's clients page through lists. `include` asks for what no item here has. */
export const itemListQuery = z.object({
  limit: z
    .string('give it once')
    .regex(/^\d{1,3}$/, 'use 1 to 100')
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(20)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  order: z.enum(['asc', 'desc'], 'use "asc" or "desc"').default('desc'),
  after: z.string('give it once').min(1).optional().meta({ description: 'the id of the last item of the page before' }),
  include,
  'include[]': include,
});
export const itemQuery = z.object({ include, 'include[]': include });

/** A page of items. Throws `NatterError('invalid')` for an `after` that is none of them. */
export const pageOfItems = (all: readonly Item[], { limit, order, after }: z.infer<typeof itemListQuery>) => {
  const ordered = order === 'asc' ? all : all.toReversed();
  const place = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && place === -1)
    throw new NatterError('invalid', 'after: there is no such item in this list', { field: 'after' });
  const data = ordered.slice(place + 1, place + 1 + limit);
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: place + 1 + data.length < ordered.length,
  };
};
