import { keyOfRun } from '../../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { afterCommitOf, isOver, type TrackedRun, unknownRun } from '../../../../shared/domain/projections/run.ts';
import { hasCode, NatterError } from '../../../../shared/kit/errors.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { orQuarantined } from '../../../../shared/kit/or-quarantined.ts';
import type { Caller } from '../../commands/envelope.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { Answer } from '../../runs/answer.ts';
import { runsBegunBy } from './find-response.ts';
import { Failure } from './format/failure.ts';
import { isUnstored } from './format/session-names.ts';
import { outputOf } from './response.ts';
import { type InputItem, type ItemReference, responseItem, type Turn } from './turns.ts';

/** Items of earlier answers that a request names instead of sending them (`item_reference`). */

type Context = Pick<GatewayContext, 'access' | 'ports' | 'replays'>;

/** From how many sessions one request may name items: each is read for it. */
const mostSessions = 8;

const isReference = (item: InputItem): item is ItemReference => item !== null && 'itemId' in item;

/** The items of a request, with those that it names as the log has them. Throws `Failure` for an unknown one; somebody else's is answered alike (A8/89). */
export const withNamedItems = async (
  context: Context,
  caller: Caller,
  items: readonly InputItem[],
  field: string,
): Promise<(Turn | null)[]> => {
  const ids = new Set(items.filter(isReference).map(({ itemId }) => itemId));
  const named = await itemsNamed(context, caller, ids, field);
  return items.map((item) => (isReference(item) ? (named.get(item.itemId) ?? null) : item));
};

const itemsNamed = async (
  context: Context,
  { principal, actor }: Caller,
  ids: ReadonlySet<string>,
  field: string,
): Promise<ReadonlyMap<string, Turn | null>> => {
  const keys = new Set([...ids].flatMap((id) => keyOfItem(id) ?? []));
  if (keys.size > mostSessions)
    throw new NatterError('invalid', `${field}: names items of more than ${mostSessions} sessions; send the items themselves`, {
      field,
    });
  const named = new Map<string, Turn | null>();
  for (const key of keys) {
    const seen = await context.access.read(principal, key).catch((error: unknown) => {
      if (hasCode(error, 'not_found')) return null;
      throw error;
    });
    if (seen === null) continue;
    const read = () => orQuarantined(outputOfSession(context, key, seen.after));
    // A long one takes time: there are only so many at once.
    const output = seen.row.rev <= limits.runSearchCommits ? read() : context.replays.during(actor, read);
    for (const item of await output) if (ids.has(item.id)) named.set(item.id, responseItem.parse(item));
  }
  for (const id of ids)
    if (!named.has(id))
      throw new Failure(
        404,
        'item_not_found',
        `${field}: there is no item ${JSON.stringify(id)}, or it is not yours to see`,
        field,
      );
  return named;
};

/** Each id begins with that of a run; see `outputOf`. */
const keyOfItem = (id: string): SessionKey | null => {
  const key = keyOfRun(/^(?:msg|fc|rs)_(.+)$/s.exec(id)?.[1] ?? '');
  return key === null || isUnstored(key) ? null : key;
};

/** The items of all answers in a session after a sequence. */
const outputOfSession = async ({ ports }: Context, key: SessionKey, after: number): Promise<{ readonly id: string }[]> => {
  const output: { readonly id: string }[] = [];
  const open = new Map<string, { readonly answer: Answer; readonly traced: TrackedRun }>();
  for await (const commit of ports.events.read(key, { after })) {
    for (const runId of runsBegunBy(commit)) open.set(runId, { answer: new Answer(runId), traced: unknownRun(runId, after) });
    for (const [runId, { answer, traced: before }] of open) {
      const traced = afterCommitOf(before, commit, runId);
      answer.take(commit, traced);
      open.set(runId, { answer, traced });
      if (!isOver(traced.run) && traced.run?.status !== 'awaiting_results') continue;
      output.push(...outputOf({ runId }, answer));
      open.delete(runId);
    }
  }
  return output;
};
