import { messageOf } from '../../../shared/domain/session/commands.ts';
import { decide } from '../../../shared/domain/session/decide/index.ts';
import type { CommandAnswer } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { initialState, type SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import {
  type Checker,
  damagedKeys,
  decisionsOf,
  type Folded,
  foldsOf,
  type History,
  lostIds,
  type Sent,
  type Told,
} from '../history.ts';

/**
 * I1: every acknowledged command ends in exactly one terminal outcome. It is in the log, or its sender was told that it changes nothing and
 * that was true at some moment between sending and telling. Every turn that was accepted ends exactly once.
 */
export const everyCommandEnds: Checker = (history) => [...commands(history), ...turns(history)];

/** A key of which nothing is recorded. */
const unknown: Folded = { log: [], states: [initialState], broken: null };

const commands = (history: History): string[] => {
  const folds = foldsOf(history);
  const damages = decisionsOf(history);
  const isDamaged = ({ envelope, from }: Sent, { answer, at }: Told): boolean =>
    answer.code === 'damaged' && damages.some((damage) => damage.key === envelope.key && damage.at <= at && from < damage.until);
  const answers = new Map<string, Told[]>();
  for (const told of history.told) answers.set(told.answer.commandId, [...(answers.get(told.answer.commandId) ?? []), told]);
  return history.sent.flatMap((sent) => {
    const key = folds.get(sent.envelope.key) ?? unknown;
    const told = answers.get(sent.envelope.id) ?? [];
    const inLog = key.log.some(({ command }) => command.id === sent.envelope.id);
    const wrong = told.filter(
      (one, index) => !isTrue(one.answer, sent, key, one.at) && !hadItsOutcome(told, index) && !isDamaged(sent, one),
    );
    return [
      ...(sent.acknowledged && !inLog && told.length === 0 ? [`${sent.envelope.id} was acknowledged and is lost`] : []),
      ...wrong.map(
        ({ host, answer, at }) => `${host} told ${answer.commandId} "${outcomeOf(answer)}" at ${at}, which was never true`,
      ),
    ];
  });
};

/** True for the word of a host that comes to a command late: another has decided it and said so, even that it changes nothing. */
const hadItsOutcome = (told: readonly Told[], index: number): boolean =>
  told[index]?.answer.outcome === 'duplicate' && told.slice(0, index).some(({ answer }) => answer.outcome !== 'duplicate');

const outcomeOf = ({ outcome, code }: CommandAnswer): string => (code === undefined ? outcome : `${outcome}: ${code}`);

const isTrue = (answer: CommandAnswer, { envelope, from }: Sent, key: Folded, at: number): boolean => {
  const known = key.log.filter(({ seq }) => seq <= at);
  switch (answer.outcome) {
    case 'accepted':
      return known.some(({ seq, command }) => seq === answer.seq && command.id === envelope.id);
    case 'duplicate':
      return known.some((commit) => commit.command.id === envelope.id || commit.events.some((event) => isOf(envelope, event)));
    default:
      return statesBetween(key, from, at).some((state) => {
        const decision = decide(envelope, state);
        if (answer.outcome === 'nothing') return 'accept' in decision && decision.accept.length === 0;
        return answer.code === 'too_large' || ('refuse' in decision && decision.refuse === answer.code);
      });
  }
};

/** True when the event is the effect of the message in this command, or of the turn it asks for. */
const isOf = ({ id, data }: Sent['envelope'], event: SessionEvent): boolean => {
  const message = messageOf(data);
  if (message === undefined) return false;
  if (event.type === 'user_message') return event.message.messageId === message.messageId || event.turnId === id;
  return event.type === 'message_refused' && event.messageId === message.messageId;
};

/** Every state the session was in from one position to another; none where its log cannot be folded, which is the business of I3 and I4. */
const statesBetween = ({ log, states, broken }: Folded, from: number, to: number): SessionState[] =>
  broken !== null
    ? []
    : states.filter((_, rev) => (log[rev]?.seq ?? Number.POSITIVE_INFINITY) > from && (log[rev - 1]?.seq ?? 0) <= to);

const turns = (history: History): string[] => {
  /** Each run and the turn that carries it: its own, one that answers it with others, or one that it joined (B6). */
  const carrier = new Map<string, string>();
  const ends = new Map<string, number>();
  /** The turns that were accepted, with their keys. */
  const accepted = new Map<string, string>();
  const readOnly = damagedKeys(history);
  const end = (...turnIds: string[]) => {
    const ended = new Set([...turnIds, ...[...carrier].flatMap(([run, turnId]) => (turnIds.includes(turnId) ? [run] : []))]);
    for (const id of ended) ends.set(id, (ends.get(id) ?? 0) + 1);
  };
  const lost = lostIds(history);
  for (const { key, seq, event } of history.commits.flatMap(({ key, seq, events }) =>
    events.map((event) => ({ key, seq, event })),
  )) {
    if (event.type === 'user_message' && event.turnId !== undefined) accepted.set(event.turnId, key);
    if ((event.type === 'turn_queued' || event.type === 'turn_started') && event.turn.task) accepted.set(event.turn.id, key);
    if (event.type === 'turn_started') for (const { id } of event.merged ?? []) carrier.set(id, event.turn.id);
    if (event.type === 'turn_joined') carrier.set(event.runId, event.turn.id);
    if (event.type === 'turn_completed' || event.type === 'turn_failed' || event.type === 'turn_aborted') end(event.turn.id);
    if (event.type === 'queue_cleared' || event.type === 'session_deleted') end(...event.turnIds);
    if (event.type === 'history_damaged') end(...[...accepted].flatMap(([id, of]) => (of === key && !ends.has(id) ? [id] : [])));
    if (event.type === 'history_damaged')
      for (const id of lost.get(seq) ?? []) for (const known of [accepted, ends, carrier]) known.delete(id);
  }
  const waits = (id: string): boolean => (history.isCut || readOnly.has(accepted.get(id) ?? '')) && !ends.has(id);
  return [...new Set([...accepted.keys(), ...ends.keys()])]
    .filter((id) => !accepted.has(id) || (ends.get(id) !== 1 && !waits(id)))
    .map((id) => `turn ${id} was ${accepted.has(id) ? 'accepted' : 'never accepted'} and ended ${ends.get(id) ?? 0} times`);
};
