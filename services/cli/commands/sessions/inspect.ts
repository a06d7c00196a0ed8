import type { Command } from 'commander';
import pc from 'picocolors';
import { type EventType, NatterApiError, type NatterClient, type SessionEvent } from '../../../../shared/client/main.ts';
import { type HistoryGap, startsAnew } from '../../../../shared/domain/session/chain.ts';
import { evolve, initialState } from '../../../../shared/domain/session/fold/evolve.ts';
import type { SessionStatus } from '../../../../shared/domain/session/fold/machine.ts';
import { type CommonOptions, clientOf, wholeNumber } from '../../access.ts';
import { commitsOf, noteLost } from '../../commits.ts';
import { example } from '../../example.ts';
import { asJson, oneLine, type World } from '../../terminal.ts';
import { type WaitingNotes, waitingNotes } from '../../text/waiting-notes.ts';
import { timeText, zoneOf } from '../../time.ts';

interface InspectOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly last: number;
  readonly json?: boolean;
}

/** Where an event is in the log. `key` is that of its session, whichever it was asked for by; `id` is `<seq>.<index>`; `at` is in milliseconds since 1970. */
interface EventPlace {
  readonly key: string;
  readonly id: string;
  readonly seq: number;
  readonly index: number;
  readonly rev: number;
  readonly at: number;
}

/** One transition of the session machine: an event, and the states before and after it. `turn` is the turn that ran or has just ended. */
interface Transition extends EventPlace {
  readonly type: EventType;
  readonly before: SessionStatus;
  readonly after: SessionStatus;
  readonly turn: { readonly id: string; readonly attempt: number } | null;
}
type Step = (event: SessionEvent, place: EventPlace) => Transition;

/** Transitions printed at most for the past. */
const lastMax = 10_000;

/** A session machine that starts before the first event and takes one event at a time, as the server's does. */
const createMachine = (): Step => {
  let machine = initialState.machine;
  return (event, { key, id, seq, index, rev, at }) => {
    const before = machine;
    machine = evolve(before, event);
    const turn = machine.context.turn ?? before.context.turn;
    return {
      ...{ key, id, seq, index, rev, at, type: event.type, before: before.value, after: machine.value },
      turn: turn && { id: turn.id, attempt: turn.attempt },
    };
  };
};

/** Folds the whole history. Resolves with its last transitions, and with the sequence it ends at; 0 if the session does not exist yet. */
const readHistory = async (
  client: NatterClient,
  { key, step, last, lost }: { key: string; step: Step; last: number; lost(gap: HistoryGap): void },
): Promise<{ transitions: Transition[]; seq: number }> => {
  const transitions: Transition[] = [];
  let seq = 0;
  let isBroken = false;
  const broken = (gap: HistoryGap): void => {
    isBroken = true;
    lost(gap);
  };
  for await (const commit of commitsOf(client, key, { lost: broken })) {
    // What follows a gap is in no known state, until a commit starts anew.
    isBroken &&= !startsAnew(commit);
    if (isBroken) continue;
    for (const [index, event] of commit.events.entries()) {
      transitions.push(step(event, { ...commit, index, id: `${commit.seq}.${index}` }));
      if (transitions.length > last) transitions.shift();
    }
    seq = commit.seq;
  }
  return { transitions, seq };
};

/** An empty history where the session does not exist yet: it may be followed from its first event. */
const noHistory = (error: unknown): { transitions: Transition[]; seq: number } => {
  if (error instanceof NatterApiError && error.status === 404) return { transitions: [], seq: 0 };
  throw error;
};

/** The transitions after `seq` as they are recorded, without gap or repeat, until the signal aborts. */
async function* followFrom(
  client: NatterClient,
  step: Step,
  following: { key: string; seq: number; signal: AbortSignal } & WaitingNotes,
): AsyncGenerator<Transition> {
  const { seq: after, ...rest } = following;
  for await (const item of client.events({ ...rest, after })) {
    if (item.type !== 'delta' && item.type !== 'gap' && item.type !== 'damage') yield step(item, item);
  }
}

const statesWidth = 'running → awaiting_approval'.length;

const lineOf = ({ id, at, type, before, after, turn }: Transition, zone: string): string => {
  const states = `${before} → ${after}`.padEnd(statesWidth);
  return [
    pc.dim(id.padStart(8)),
    pc.dim(timeText(at, zone)),
    before === after ? states : pc.green(states),
    pc.bold(type),
    turn ? `turn ${oneLine(turn.id, 128)} attempt ${turn.attempt}` : '',
  ]
    .join('  ')
    .trimEnd();
};

/** `natter inspect`: the transitions of a session's state machine, from its log and, with `--follow`, as they happen. */
export const inspectCommand = (program: Command, world: World): void => {
  program
    .command('inspect')
    .argument('<key>', 'session key, such as agent:main:main')
    .option('--follow', 'keep printing transitions as they happen, until Ctrl-C')
    .option('--last <count>', 'number of past transitions to print', wholeNumber(0, lastMax), 20)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', example('inspect agent:main:main --follow'))
    .action(async (key: string, _: unknown, command: Command) => {
      const { follow, last, json, ...common } = command.optsWithGlobals<InspectOptions>();
      const client = clientOf(world, common);
      const zone = zoneOf(world, common);
      const show = (transition: Transition): void => world.terminal.out(json ? asJson(transition) : lineOf(transition, zone));
      const step = createMachine();
      const history = readHistory(client, { key, step, last, lost: noteLost(world, key) });
      const { transitions, seq } = await (follow ? history.catch(noHistory) : history);
      for (const transition of transitions) show(transition);
      if (!follow) return;
      const notes = waitingNotes((line) => world.terminal.note(line));
      for await (const transition of followFrom(client, step, { key, seq, signal: world.interrupted, ...notes }))
        show(transition);
    });
};
