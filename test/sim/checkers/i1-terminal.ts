import { decide } from '../../../shared/session/decide/index.ts';
import type { SessionEvent } from '../../../shared/session/events.ts';
import { fold, initialState, type SessionState } from '../../../shared/session/evolve.ts';
import type { CommandAnswer, RecordedCommit } from '../../../shared/wire/envelope.ts';
import { byKey, type Checker, type History, type Sent, type Told } from '../history.ts';

/**
 * I1: every acknowledged command ends in exactly one terminal outcome. It is in the log, or its sender was told that it changes nothing and
 * that was true at some moment between sending and telling. Every turn that was accepted ends exactly once.
 */
export const everyCommandEnds: Checker = (history) => [...commands(history), ...turns(history)];

const commands = (history: History): string[] => {
  const logs = byKey(history);
  const answers = new Map<string, Told[]>();
  for (const told of history.told) answers.set(told.answer.commandId, [...(answers.get(told.answer.commandId) ?? []), told]);
  return history.sent.flatMap((sent) => {
    const log = logs.get(sent.envelope.key) ?? [];
    const told = answers.get(sent.envelope.id) ?? [];
    const inLog = log.some(({ command }) => command.id === sent.envelope.id);
    const wrong = told.filter(({ answer, at }) => !isTrue(answer, sent, log, at));
    return [
      ...(sent.acknowledged && !inLog && told.length === 0 ? [`${sent.envelope.id} was acknowledged and is lost`] : []),
      ...wrong.map(
        ({ host, answer, at }) => `${host} told ${answer.commandId} "${outcomeOf(answer)}" at ${at}, which was never true`,
      ),
    ];
  });
};

const outcomeOf = ({ outcome, code }: CommandAnswer): string => (code === undefined ? outcome : `${outcome}: ${code}`);

const isTrue = (answer: CommandAnswer, { envelope, from }: Sent, log: readonly RecordedCommit[], at: number): boolean => {
  const known = log.filter(({ seq }) => seq <= at);
  switch (answer.outcome) {
    case 'accepted':
      return known.some(({ seq, command }) => seq === answer.seq && command.id === envelope.id);
    case 'duplicate':
      return known.some((commit) => commit.command.id === envelope.id || commit.events.some((event) => isOf(envelope, event)));
    default:
      return statesBetween(log, from, at).some((state) => {
        const decision = decide(envelope, state);
        if (answer.outcome === 'nothing') return 'accept' in decision && decision.accept.length === 0;
        return answer.code === 'too_large' || ('refuse' in decision && decision.refuse === answer.code);
      });
  }
};

/** True when the event is the effect of the message in this command, or of an earlier command of the same run. */
const isOf = ({ correlationId, data }: Sent['envelope'], event: SessionEvent): boolean => {
  if (data.type !== 'post_message' && data.type !== 'append_message') return false;
  if (event.type === 'user_message') return event.message.messageId === data.message.messageId || event.turnId === correlationId;
  return event.type === 'message_refused' && event.messageId === data.message.messageId;
};

/** Every state the session was in from one position to another. */
const statesBetween = (log: readonly RecordedCommit[], from: number, to: number): SessionState[] => {
  const states: SessionState[] = [];
  let state = initialState;
  for (const commit of log) {
    if (commit.seq > to) break;
    if (commit.seq > from) states.push(state);
    try {
      state = fold(state, commit);
    } catch {
      // What cannot be folded is the business of I3 and I4.
      return [];
    }
  }
  return [...states, state];
};

const turns = (history: History): string[] => {
  const ends = new Map<string, number>();
  const accepted = new Set<string>();
  const end = (id: string) => ends.set(id, (ends.get(id) ?? 0) + 1);
  for (const event of history.commits.flatMap(({ events }) => events)) {
    if (event.type === 'user_message' && event.turnId !== undefined) accepted.add(event.turnId);
    if (event.type === 'turn_completed' || event.type === 'turn_failed' || event.type === 'turn_aborted') end(event.turn.id);
    if (event.type === 'queue_cleared') for (const id of event.turnIds) end(id);
  }
  return [...new Set([...accepted, ...ends.keys()])]
    .filter((id) => !accepted.has(id) || ends.get(id) !== 1)
    .map((id) => `turn ${id} was ${accepted.has(id) ? 'accepted' : 'never accepted'} and ended ${ends.get(id) ?? 0} times`);
};
