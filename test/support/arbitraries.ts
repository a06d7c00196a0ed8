import fc from 'fast-check';
import { expect } from 'vitest';
import { decide, isRepeat } from '../../shared/session/decide/index.ts';
import { fold, initialState, isErasure, type SessionState } from '../../shared/session/evolve.ts';
import type { CommandEnvelope, RecordedCommit } from '../../shared/wire/envelope.ts';
import { command, commitOf } from './given.ts';

/** The functions under test; a property gets a broken one in place of one of them to prove that it would notice. */
export interface Domain {
  decide: typeof decide;
  isRepeat: typeof isRepeat;
  fold: typeof fold;
}
export const domain: Domain = { decide, isRepeat, fold };

/** What happened: the state before and after each command that led to a commit, and every command that came from the queue. */
export interface History {
  readonly state: SessionState;
  readonly commits: readonly RecordedCommit[];
  readonly states: readonly SessionState[];
  readonly asked: readonly { readonly envelope: CommandEnvelope; readonly seq: number; readonly committed: boolean }[];
}

const verbs = [
  'post',
  'post',
  'post',
  'repost',
  'append',
  'open',
  'stop',
  'reset',
  'renew',
  'deactivate',
  'resume',
  'resume',
  'open-by',
  'origin',
  'route',
  'send',
  'notice',
  'delete',
] as const;
const turnVerbs = ['reply', 'reply', 'continue', 'fail', 'ask', 'answer', 'answer', 'redeliver'] as const;
type Verb = (typeof verbs)[number] | (typeof turnVerbs)[number];

/** One intent of a stranger, a user or a host: a verb, and a number that says how wrong or late it is. Becomes a command in `play`. */
export type Intent = readonly [Verb, number];
const intent = fc.tuple(fc.constantFrom<Verb>(...verbs, ...turnVerbs), fc.nat(99));
export const intents = fc.array(intent, { maxLength: 60, size: 'max' });

/** Commands of the host itself: they do not come from the queue. */
const own: ReadonlySet<string> = new Set<Verb>(['resume', 'reply', 'continue', 'fail', 'ask']);

/** The row of an intent in a state: four in five mean the turn that runs, the others one that is over, to come or not there at all. */
const rowOf = ([verb, number]: Intent, index: number, { machine: { context } }: SessionState, since: number): string => {
  const astray = number % 5 === 0 || context.turn === null;
  const turn =
    astray || context.turn === null ? { id: `m${number % 9}`, attempt: 1 + (number % 4), step: 1 + (number % 3) } : context.turn;
  switch (verb) {
    case 'post':
    case 'append':
      return `${verb} m${index}`;
    case 'repost':
      return `post m${Math.max(since, index - (number % 8))}`;
    case 'reset':
      return `reset s${index}${number % 2 ? ` m${index}` : ''}`;
    case 'renew':
      return `post-under m${index} s${index} ${['isolated', 'idle 0', `daily ${number}`][number % 3]} @${number * 10}`;
    case 'route':
    case 'origin':
      return `${verb} place-${number % 3}`;
    case 'send':
      return `send ${['deny', 'allow', 'inherit'][number % 3]}`;
    case 'delete':
      return `delete ${['session', 'key', 'erased'][number % 3]}`;
    case 'reply':
    case 'continue':
    case 'fail':
      return `${verb} ${turn.id}/${turn.attempt} ${turn.step}`;
    case 'ask':
      return `ask ${turn.id}/${turn.attempt} p${index} 500`;
    case 'answer':
      return `answer ${number % 5 === 0 ? 'p0' : context.approval?.approvalId} ${number % 2 ? 'granted' : 'denied'} @${number * 10}`;
    default:
      return verb;
  }
};

/** Plays intents as a session host would: repeats are dropped, what is decided is committed. `before` is played first, without notes. */
export const play = (wishes: readonly Intent[], { decide, isRepeat, fold }: Domain = domain, before = initialState): History => {
  let state = before;
  const commits: RecordedCommit[] = [];
  const states = [state];
  const asked: { envelope: CommandEnvelope; seq: number; committed: boolean }[] = [];
  /** An erasure removes the ids of what came before: that alone is not known again. */
  let since = 0;
  const handle = (envelope: CommandEnvelope, seq: number | null): boolean => {
    if (isRepeat(envelope, seq === null ? null : { seq, incarnation: 1 }, state)) return false;
    const decision = decide(envelope, state);
    if ('refuse' in decision || decision.accept.length === 0) return false;
    const commit = commitOf(state, envelope, decision.accept, seq);
    state = fold(state, commit);
    commits.push(commit);
    states.push(state);
    return true;
  };
  for (const [offset, wish] of wishes.entries()) {
    const index = before.position.seq + offset;
    const earlier = asked[wish[1] % Math.max(1, asked.length)];
    if (wish[0] === 'redeliver') {
      if (earlier?.committed) handle(earlier.envelope, earlier.seq);
      continue;
    }
    const envelope = command(rowOf(wish, index, state, since), `c${index}`);
    const seq = own.has(wish[0]) ? null : index + 1;
    const committed = handle(envelope, seq);
    if (seq !== null) asked.push({ envelope, seq, committed });
    const last = commits.at(-1);
    if (committed && last !== undefined && isErasure(last)) since = index;
  }
  return { state, commits, states, asked };
};

/** A session in which a turn runs and as many wait as may. */
export const crowded = (waiting: number): SessionState =>
  play(Array.from({ length: waiting + 1 }, (): Intent => ['post', 1])).state;

/**
 * Checks a property, and that the same property with a fault planted in what it is about does not hold: a property that no fault can
 * break proves nothing. Faults get five times as many runs to be found.
 */
export const holds = <T>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T) => void,
  faults: Readonly<Record<string, (value: T) => void>>,
  numRuns = 200,
): void => {
  const check = (predicate: (value: T) => void, runs: number) =>
    fc.assert(fc.property(arbitrary, predicate), { numRuns: runs, endOnFailure: runs !== numRuns });
  check(property, numRuns);
  for (const [name, faulty] of Object.entries(faults)) {
    expect(() => check(faulty, numRuns * 5), `the property should notice the fault "${name}"`).toThrow();
  }
};

/** `holds` for properties of the domain: each fault is a function of it replaced. */
export const holdsFor = (
  property: (wishes: readonly Intent[], under: Domain) => void,
  faults: Readonly<Record<string, Partial<Domain>>>,
  numRuns?: number,
): void => {
  const under = (fault: Partial<Domain>) => (wishes: readonly Intent[]) => property(wishes, { ...domain, ...fault });
  holds(intents, under({}), Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, under(fault)])), numRuns);
};
