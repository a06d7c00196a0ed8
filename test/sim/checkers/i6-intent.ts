import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { byKey, type Checker, lostIds, type ModelCall, newSince } from '../history.ts';

/**
 * I6: each model call has a recorded intent before it, is made once per attempt and step, is given what the turn said so far, and is never
 * made for a step that was recorded before its attempt began. A zombie may still repeat a step that a newer attempt has taken since: no
 * outsider can stop that call, its result is fenced.
 */
export const effectsHaveIntents: Checker = (history) => {
  const logs = new Map([...byKey(history)].map(([key, commits]) => [key, byTurn(commits)]));
  const lost = lostIds(history);
  const made = new Set<string>();
  return history.modelCalls.flatMap((call) => {
    const since = newSince(lost, call.turn.id, call.at);
    const facts = (logs.get(call.key)?.get(call.turn.id) ?? []).filter(({ seq }) => since < seq && seq <= call.at);
    const name = `${call.host} called the model for step ${call.step} of ${call.turn.id}/${call.turn.attempt} at ${call.at}`;
    const intent = facts.find(({ event }) => begins(event, call));
    if (intent === undefined) return [`${name} without a recorded intent`];
    const repeated = facts.some(
      ({ seq, event }) =>
        isStep(event, call) && event.step === call.step && (seq < intent.seq || event.turn.attempt === call.turn.attempt),
    );
    // A summary has no step of its own, and it is made again where what it left is too much still.
    if (call.purpose === 'compaction') return repeated ? [`${name}, which was recorded before`] : [];
    const id = `${call.turn.id}/${call.turn.attempt} ${call.step} ${since}`;
    const again = made.has(id);
    made.add(id);
    const isAlone = call.purpose === undefined && !facts.some(({ event }) => isShared(event));
    const said = facts.flatMap(({ event }) => (isStep(event, call) && event.step < call.step ? [event.text] : []));
    const prompt = facts.flatMap(({ event }) =>
      event.type === 'user_message' && event.turnId === call.turn.id ? [event.message.text] : [],
    )[0];
    return [
      ...(repeated ? [`${name}, which was recorded before`] : []),
      ...(again ? [`${name} a second time`] : []),
      ...(!isAlone || (said.join('\n') === call.steps.join('\n') && prompt === call.prompt)
        ? []
        : [`${name} with another conversation than the log's`]),
    ];
  });
};

/** True of what gives a turn another conversation than its own message and steps. */
const isShared = (event: SessionEvent): boolean => {
  if (event.type === 'turn_started') return event.merged !== undefined || event.turn.task !== undefined;
  return (
    event.type === 'turn_joined' || event.type === 'context_compacted' || (event.type === 'model_step' && event.flush === true)
  );
};

interface Fact {
  readonly seq: number;
  readonly event: SessionEvent;
}

/** The events of each turn, with the message that asked for it. */
const byTurn = (commits: readonly RecordedCommit[]): Map<string, Fact[]> => {
  const turns = new Map<string, Fact[]>();
  for (const { seq, events } of commits) {
    for (const event of events) {
      const id = event.type === 'user_message' ? event.turnId : 'turn' in event ? event.turn.id : undefined;
      if (id !== undefined) turns.set(id, [...(turns.get(id) ?? []), { seq, event }]);
    }
  }
  return turns;
};

const begins = (event: SessionEvent, { turn: { id, attempt } }: ModelCall): boolean => {
  if (event.type === 'turn_started') return event.turn.id === id && event.attempt === attempt;
  const resumes = event.type === 'turn_resumed' || event.type === 'approval_resolved';
  return resumes && event.turn.id === id && event.turn.attempt === attempt;
};

const isStep = (event: SessionEvent, { turn }: ModelCall): event is Extract<SessionEvent, { type: 'model_step' }> =>
  event.type === 'model_step' && event.turn.id === turn.id;
