import fc from 'fast-check';
import { expect } from 'vitest';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import { isDeferredTurn } from '../../../shared/domain/session/decide/deferred-call.ts';
import { decide } from '../../../shared/domain/session/decide/index.ts';
import { isRepeat } from '../../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { EventOf, SessionEvent } from '../../../shared/domain/session/events.ts';
import { fold, initialState, type SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import { runs } from '../runs.ts';
import { command, commitOf } from './given.ts';
import { people } from './verbs.ts';

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
  'post-as',
  'post-as',
  'post-to',
  'post-limit',
  'post-stale',
  'answers',
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
  'compact',
  'compact',
  'checkpoint',
  'forget',
  'fork',
  'undelivered',
  'repeat-delivery',
  'told',
  'edit',
  'withdraw',
] as const;
const turnVerbs = [
  'reply',
  'reply',
  'continue',
  'fail',
  'ask',
  'answer',
  'answer',
  'answer-by',
  'expire',
  'redeliver',
  'call',
  'call',
  'call',
  'start',
  'result',
  'result',
  'result',
  'result',
  'reply-after',
  'long-result',
  'await-results',
  'give',
  'give',
  'give',
  'give',
  'give-saying',
  'expire-results',
  'ask-call',
  'ask-call',
  'flush',
  'prompted',
  'compacted',
  'compacted',
  'nothing-to-compact',
  'stall',
  'introspect',
  'introspect-failed',
  'remember',
  'equip',
] as const;
type Verb = (typeof verbs)[number] | (typeof turnVerbs)[number];

/** One intent of a stranger, a user or a host: a verb, and a number that says how wrong or late it is. Becomes a command in `play`. */
export type Intent = readonly [Verb, number];
const intent = fc.tuple(fc.constantFrom<Verb>(...verbs, ...turnVerbs), fc.nat(99));
export const intents = fc.array(intent, { maxLength: 60, size: 'max' });

/** Commands that others send; all else is the host's own and does not come from the queue. */
const sent: ReadonlySet<string> = new Set<Verb>([
  ...verbs.filter((verb) => verb !== 'resume'),
  'answer',
  'answer-by',
  'give',
  'give-saying',
]);

const modes = ['followup', 'collect', 'steer', 'interrupt', 'reject'] as const;
const places = ['#a', '#b', '#a/7', 'work:#a'] as const;
const rulings = [
  'run',
  'deny',
  'ask',
  'ask-once',
  'spawn',
  'ask-spawn',
  'client',
  'client',
  'ask-later',
  'ask-later-bob',
] as const;
const oneOf = <T>(items: readonly T[], number: number): T => items[number % items.length] as T;

/** The row of an intent in a state: four in five mean the turn that runs, the others one that is over, to come or not there at all. */
const rowOf = (
  [verb, number]: Intent,
  index: number,
  { machine: { context }, position }: SessionState,
  since: number,
): string => {
  const astray = number % 5 === 0 || context.turn === null;
  const turn =
    astray || context.turn === null
      ? { id: `m${number % 9}`, attempt: 1 + (number % 4), step: 1 + (number % 3), calls: [], joined: 1 }
      : context.turn;
  const ref = `${turn.id}/${turn.attempt}`;
  const open = turn.calls.filter(({ status }) => status !== 'done' || number % 7 === 0);
  const callId = open.length === 0 ? `m${number % 9}.1.0` : oneOf(open, number).callId;
  const pending = [...context.questions, ...(context.approval ? [context.approval] : [])];
  const known = number % 5 === 0 || pending.length === 0 ? ['p0', ...context.resolved.map((past) => past.approvalId)] : [];
  const approvalId = oneOf([...known, ...pending.map((open) => open.approvalId)], number);
  switch (verb) {
    case 'post':
    case 'append':
      return `${verb} m${index}`;
    case 'repost':
      return `post m${Math.max(since, index - (number % 8))}`;
    case 'post-as':
      return `post-as m${index} ${oneOf(modes, number)} ${number % 3 === 0 ? '500' : ''}`.trim();
    case 'post-to':
      return `post-to m${index} ${oneOf(places, number)} ${oneOf(modes, number)}`;
    case 'post-limit':
      return `post-limit m${index} ${number % 4} ${oneOf(modes, number)}`;
    case 'post-stale':
      return `post-stale m${index} ${oneOf(modes, number)}`;
    case 'answers':
      return `answers m${index} ${oneOf(context.spawned, number)?.runId ?? 'spawned-9'} ${oneOf(modes, number)}`;
    case 'told':
      return `post in-${index}`;
    case 'edit':
    case 'withdraw':
      return `${verb} ${oneOf(position.revisable, number)?.id ?? 'in-0'}`;
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
    case 'compact':
      return `compact c${index}`;
    case 'forget':
      return `forget ${index}-0`;
    case 'checkpoint':
      return `checkpoint ${['', `turns ${1 + (number % 2)}`, `idle ${number * 5} @${number * 20}`][number % 3]}`.trim();
    case 'introspect':
    case 'introspect-failed': {
      const gap = number % 3 === 0 ? oneOf(position.covered.gaps, number) : undefined;
      const from = gap?.fromRev ?? (astray ? 1 + (number % 4) : position.covered.rev + 1);
      const to = gap ? gap.toRev - (number % 2) : position.rev - (number % 3);
      return `${verb} ${from} ${Math.max(from, to)} ${gap?.sessionId ?? context.sessionId}`;
    }
    case 'reply':
    case 'continue':
      return `${verb} ${ref} ${turn.step} ${Math.max(0, turn.joined - (number % 2))}`;
    case 'fail':
    case 'flush':
      return `${verb} ${ref} ${turn.step}`;
    case 'equip':
      return `equip ${ref} ${turn.step} skill-${number % 2}`;
    case 'prompted':
      return `prompted ${ref} ${turn.step} part-${number % 2}`;
    case 'call': {
      const words = [number, number >> 1, number >> 2].slice(0, 1 + (number % 3));
      return `call ${ref} ${turn.step} tool-${number % 3} ${words.map((word, at) => `${oneOf(rulings, word)}:p${index}-${at}`).join(' ')}`;
    }
    case 'start':
    case 'remember':
      return `${verb} ${ref} ${callId}`;
    case 'result':
      return `result ${ref} ${callId} ${oneOf(['ok', 'ok', 'error', 'unknown'], number)}`;
    case 'reply-after': {
      const results = open.slice(number % 4 === 0 ? 1 : 0).map((call) => `${call.callId}:${oneOf(['ok', 'error'], number >> 1)}`);
      return `reply-after ${ref} ${turn.step} ${results.join(' ')}`.trim();
    }
    case 'await-results':
      return `await-results ${ref} 500`;
    case 'give':
    case 'give-saying': {
      const first = verb === 'give' ? oneOf(['owner', 'owner', 'stranger', 'program'], number) : `m${index}`;
      const results = open.slice(number % 6 === 0 ? 1 : 0).map((call) => `${call.callId}:${oneOf(['ok', 'error'], number >> 1)}`);
      return `${verb} ${first} ${results.length > 0 ? results.join(' ') : `${callId}:ok`}`;
    }
    case 'expire-results':
      return `expire-results ${turn.id} @${number * 20}`;
    case 'long-result':
      return `long-result ${ref} ${callId} ${40_000 * (1 + (number % 3))}`;
    case 'ask-call': {
      const isCutOff = open.some((call) => call.callId === callId && call.tries > 0);
      return `ask-call ${ref} ${callId} ${number % 6 === 0 ? `p${number}` : `p${index}`} ${isCutOff ? 'retry' : oneOf(['ask', 'ask-once'], number)}`;
    }
    case 'compacted':
      return `compacted ${ref} ${Math.max(1, position.rev - (number % 3))} ${position.seq + 1}`;
    case 'nothing-to-compact':
    case 'stall':
      return `${verb} ${ref}`;
    case 'ask':
      return `ask ${ref} p${index} 500`;
    case 'answer':
      return `answer ${approvalId} ${number % 2 ? 'granted' : 'denied'} ${number % 3 ? 'once' : 'always'} @${number * 10}`;
    case 'answer-by':
      return `answer-by ${oneOf(Object.keys(people), number)} ${approvalId} ${number % 2 ? 'granted' : 'denied'} @${number * 10}`;
    case 'expire':
      return `expire ${approvalId} @${number * 20}`;
    default:
      return verb;
  }
};

/** Back to where the session once stood. */
const forkOf = ({ machine, position }: SessionState, index: number): CommandEnvelope => {
  const { seq, rev, contextSeq, skips } = position;
  const { sessionId } = machine.context;
  const data = { type: 'fork', sessionId: `s${index}`, from: { sessionId, seq, rev, contextSeq, skips } } as const;
  return { ...command('fork', `c${index}`), data };
};

/** Plays intents as a session host would: repeats are dropped, what is decided is committed. `before` is played first, without notes. */
export const play = (wishes: readonly Intent[], { decide, isRepeat, fold }: Domain = domain, before = initialState): History => {
  let state = before;
  const commits: RecordedCommit[] = [];
  const states = [state];
  const asked: { envelope: CommandEnvelope; seq: number; committed: boolean }[] = [];
  /** An erasure removes the ids of what came before, which alone are not known again, and the states. */
  let since = { index: 0, state: 0 };
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
    const base = wish[0] === 'fork' ? states[since.state + (wish[1] % (states.length - since.state))] : undefined;
    const isThere = base !== undefined && base.machine.context.generation > 0 && !base.machine.context.deleted;
    const envelope = isThere ? forkOf(base, index) : command(rowOf(wish, index, state, since.index), `c${index}`);
    const seq = sent.has(wish[0]) ? index + 1 : null;
    const committed = handle(envelope, seq);
    if (seq !== null) asked.push({ envelope, seq, committed });
    const last = commits.at(-1);
    if (committed && last !== undefined && isErasure(last)) since = { index, state: states.length - 1 };
  }
  return { state, commits, states, asked };
};

/** A session in which a turn runs and as many wait as may. */
export const crowded = (waiting: number): SessionState =>
  play(Array.from({ length: waiting + 1 }, (): Intent => ['post', 1])).state;

/**
 * Checks a property, and that the same property with a fault planted in what it is about does not hold: a property that no fault can
 * break proves nothing. The rarest faults show in one history of a thousand: each gets far more runs than that, and ends with the first.
 */
export const holds = <T>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T) => void,
  faults: Readonly<Record<string, (value: T) => void>>,
  numRuns = 200,
): void => {
  fc.assert(fc.property(arbitrary, property), { numRuns: runs(numRuns) });
  for (const [name, faulty] of Object.entries(faults)) {
    const check = () => fc.assert(fc.property(arbitrary, faulty), { numRuns: numRuns * 100, endOnFailure: true });
    expect(check, `the property should notice the fault "${name}"`).toThrow();
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

/** `decide`, with what it accepts changed. */
export const deciding = (change: (events: readonly SessionEvent[]) => readonly SessionEvent[]): Pick<Domain, 'decide'> => ({
  decide: (envelope, state) => {
    const decision = decide(envelope, state);
    return 'accept' in decision ? { accept: change(decision.accept) } : decision;
  },
});

/** An answer that a turn waited for, and that it goes on with. */
export const answersTurn = (event: SessionEvent): event is EventOf<'approval_resolved'> =>
  event.type === 'approval_resolved' && !isDeferredTurn(event.turn.id);
