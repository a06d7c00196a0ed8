import { uuidv7 } from 'uuidv7';
import { Conversation } from '../../../services/session/prompt/conversation.ts';
import { Conversations } from '../../../services/session/prompt/conversations.ts';
import { pruned } from '../../../services/session/prompt/prune.ts';
import { planCompaction } from '../../../shared/domain/prompt/compaction.ts';
import type { TurnView } from '../../../shared/domain/prompt/conversation-message.ts';
import type { Commit, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { advance, initialState, type Position } from '../../../shared/domain/session/fold/evolve.ts';
import { keyOf, quantile } from '../load.ts';
import { type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

const key = keyOf(0);
const events = 10_000;
/** The turn that begins last. */
const turn = { id: `turn-${events}` };
const usage = { inputTokens: 900, outputTokens: 100, totalTokens: 1_000 };

/** The commits of one turn with a call of a tool: 8 events in 4 commits, as a host records them. */
const turnOf = (number: number): SessionEvent[][] => {
  const turn = { id: `turn-${number}`, attempt: 1 };
  const messageId = `message-${number}`;
  const callId = `${turn.id}.1.0`;
  const text = `message ${number}: how do I mount a windows partition in ubuntu? `.repeat(3);
  const step = { type: 'model_step', v: 1, turn, model: 'bench', usage } as const;
  const call = { callId, tool: 'read_file', arguments: '{"path":"notes/disks.md"}' };
  return [
    [
      { type: 'user_message', v: 1, message: { messageId, text, sender: { id: 'bench' } }, turnId: turn.id },
      { type: 'turn_started', v: 1, turn: { id: turn.id, messageId }, attempt: 1 },
    ],
    [
      { ...step, step: 1, text: '', finish: 'continue', calls: [call] },
      { type: 'tool_call_started', v: 1, turn, callId, tool: 'read_file', callAttempt: 1 },
    ],
    [{ type: 'tool_result', v: 1, turn, callId, tool: 'read_file', outcome: 'ok', text: text.repeat(5), bytes: text.length * 5 }],
    [
      { ...step, step: 2, text, finish: 'stop' },
      { type: 'assistant_message', v: 1, turn, messageId: turn.id, text },
      { type: 'turn_completed', v: 1, turn },
    ],
  ];
};

/** A generation of so many events whose last turn has just begun. */
const generation = (): SessionEvent[][] => {
  const opened: SessionEvent = {
    type: 'session_opened',
    v: 1,
    sessionId: 's',
    generation: 1,
    source: { kind: 'api', interactive: false },
  };
  const turns = Array.from({ length: Math.floor(events / 8) }, (_, number) => turnOf(number)).flat();
  return [[opened], ...turns, turnOf(events).slice(0, 1).flat()];
};

const commitOf = (rev: number, recorded: readonly SessionEvent[]): Commit => {
  const id = uuidv7();
  return {
    ...{ v: 1, id, key, rev, sessionId: 's', epoch: 0, at: 1_790_000_000_000 + rev, correlationId: id, causationId: id },
    ...{ actor: 'bench', command: { id, seq: null, incarnation: null }, events: recorded },
  };
};

const medianMs = async (times: number, job: () => unknown): Promise<number> => {
  const took: number[] = [];
  for (let time = 0; time < times; time++) {
    const began = performance.now();
    await job();
    took.push(performance.now() - began);
  }
  return quantile(
    took.toSorted((a, b) => a - b),
    0.5,
  );
};

/** What a turn waits for before its first model step: its context from the log, and from memory. */
export const contextOfLongSession = async (setup: SetupName): Promise<Row[]> => {
  const system = await startSystem(setup);
  try {
    const { ports } = system;
    const commits: RecordedCommit[] = [];
    let position: Position = initialState.position;
    const append = async (recorded: readonly SessionEvent[]): Promise<void> => {
      const commit = commitOf(position.rev + 1, recorded);
      const result = await ports.events.append(commit, position.seq);
      if (result.kind !== 'stored') throw new Error(`commit ${commit.rev} was not stored: ${JSON.stringify(result)}`);
      const kept = { ...commit, seq: result.seq, recordedAt: commit.at, digest: result.digest };
      commits.push(kept);
      position = advance(position, kept);
    };
    for (const recorded of generation()) await append(recorded);
    const title = `${commits.reduce((sum, commit) => sum + commit.events.length, 0)} events`;

    const conversations = new Conversations(ports);
    const view = await conversations.read(key, turn, position);
    const whole = await medianMs(15, () => new Conversations(ports).read(key, turn, position));
    const decoding = await medianMs(15, async () => {
      for await (const _ of ports.events.read(key));
    });
    const fold = await medianMs(15, () => {
      const conversation = new Conversation();
      for (const commit of commits) conversation.add(commit);
    });
    const resident = await medianMs(200, () => conversations.read(key, turn, position));
    const request = await medianMs(50, () => pruned(messagesOf(view), { windowTokens }));
    await append([compacted(view, roomTokens)]);
    const full = await medianMs(15, () => new Conversations(ports).read(key, turn, position));
    await append([compacted(await conversations.read(key, turn, position), keepTokens)]);
    const fresh = await medianMs(15, () => new Conversations(ports).read(key, turn, position));
    const ms = { unit: 'ms p50' };
    return [
      { what: `fold of ${title} (${setups[setup].title})`, value: fold, ...ms, goal: 'under 50 ms' },
      { what: 'the same in memory, one more step', value: resident, ...ms },
      { what: 'pruning of all of it', value: request, ...ms },
      { what: 'from the log, after a compaction', value: fresh, ...ms, goal: 'under 50 ms', note: `${keepTokens} tokens kept` },
      { what: 'from the log, right before the next one', value: full, ...ms, note: `${roomTokens} tokens` },
      { what: 'from the log, if nothing was ever summarised', value: whole, ...ms },
      { what: 'of that reading and decoding', value: decoding, ...ms },
    ];
  } finally {
    await system.close();
  }
};

/** As the configuration has it by default. */
const [windowTokens, keepTokens, roomTokens] = [128_000, 20_000, 111_616];
const messagesOf = ({ said }: TurnView) => said.map(({ message }) => message);

const compacted = (view: TurnView, kept: number): SessionEvent => {
  const plan = planCompaction(view, { turnId: turn.id, keepTokens: kept, roomTokens: 2 * roomTokens });
  if (plan === null) throw new Error('there is nothing to compact');
  const { throughRev, keptFromSeq } = plan;
  const summary = 'What was said before. '.repeat(200);
  const counts = { tokensBefore: 1, tokensAfter: 1, model: 'bench', usage };
  return { type: 'context_compacted', v: 1, turn: { ...turn, attempt: 1 }, summary, throughRev, keptFromSeq, ...counts };
};
