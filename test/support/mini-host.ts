import { commitFenced } from '../../services/session/host/commit.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { IndexRow } from '../../shared/domain/projections/index-row.ts';
import { summarize } from '../../shared/domain/projections/summary.ts';
import type { SessionCommand } from '../../shared/domain/session/commands.ts';
import { decide } from '../../shared/domain/session/decide/index.ts';
import { isRepeat } from '../../shared/domain/session/decide/repeat.ts';
import type { CommandAnswer, CommandEnvelope, RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import { evolve, fold, initialState, type SessionState } from '../../shared/domain/session/fold/evolve.ts';
import type { StepOutcome } from '../../shared/domain/values/types.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { AckOutcome, Consumption, Delivery } from '../../shared/ports/work-queue.ts';
import { encodeCommit } from '../../shared/wire/codec.ts';

/**
 * The smallest session host that keeps the rules: it takes commands, decides, appends, answers and projects. Its model repeats what it
 * hears; a text that begins with "fail" fails. `hold` keeps turns running until `release`.
 */
export interface MiniHost {
  hold(): void;
  release(): Promise<void>;
  /** Records a state as the session host's snapshots do. */
  state(key: SessionKey): SessionState;
  close(): Promise<void>;
}

export const startMiniHost = async (ports: Ports, options: { index?: boolean } = {}): Promise<MiniHost> => {
  const states = new Map<SessionKey, SessionState>();
  const rows = new Map<SessionKey, IndexRow>();
  const texts = new Map<string, string>();
  const pending = new Set<SessionKey>();
  let held = false;
  let next = 0;

  const append = async (
    envelope: CommandEnvelope,
    delivery: Delivery<CommandEnvelope> | null,
    events: readonly SessionEvent[],
  ) => {
    const before = states.get(envelope.key) ?? initialState;
    const { context } = events.reduce(evolve, before.machine);
    const commit = {
      v: 2,
      id: `commit-${envelope.id}`,
      key: envelope.key,
      rev: before.position.rev + 1,
      prev: before.position.digest,
      sessionId: context.sessionId,
      epoch: context.epoch,
      at: envelope.at,
      correlationId: envelope.correlationId,
      causationId: envelope.id,
      actor: envelope.actor,
      command: { id: envelope.id, seq: delivery?.seq ?? null, incarnation: delivery?.incarnation ?? null },
      events,
    } as const;
    const patience = { clock: ports.clock, patienceMs: 30_000, fencing: true, signal: new AbortController().signal };
    const result = await commitFenced(ports.events, commit, before.position.seq, patience);
    if (result.kind !== 'committed') throw new Error(`not committed: ${JSON.stringify(result)}`);
    const recorded: RecordedCommit = {
      ...commit,
      seq: result.seq,
      recordedAt: envelope.at,
      digest: result.digest,
      sizeBytes: encodeCommit(commit).byteLength,
    };
    states.set(envelope.key, fold(before, recorded));
    for (const event of events) if (event.type === 'user_message') texts.set(event.message.messageId, event.message.text);
    const row = summarize(rows.get(envelope.key) ?? null, recorded);
    rows.set(envelope.key, row);
    if (options.index !== false) await ports.index.put([row], result.seq);
    return recorded;
  };

  /** Runs the turns of a session until none is left. */
  const work = async (key: SessionKey): Promise<void> => {
    for (;;) {
      const turn = states.get(key)?.machine.context.turn;
      if (!turn) return;
      if (held || states.get(key)?.machine.value === 'awaiting_approval') return void pending.add(key);
      const text = texts.get(turn.messageId) ?? '';
      const reply = `you said: ${text}`;
      const ref = { id: turn.id, attempt: turn.attempt };
      ports.live.publish(key, { turn: ref, step: turn.step, offset: 0, text: reply });
      ports.live.ended(key, ref);
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const outcome: StepOutcome = text.startsWith('fail')
        ? { kind: 'failed', code: 'model_error', message: 'the model would not' }
        : { kind: 'reply', text: reply, model: 'test', usage };
      const data: SessionCommand = turn.task
        ? { type: 'record_compaction', turn: ref, result: { kind: 'nothing', reason: 'it is short' } }
        : { type: 'record_step', turn: ref, step: turn.step, outcome, heard: turn.joined };
      const id = `host-${next++}`;
      const envelope = { id, key, at: ports.clock.now(), correlationId: turn.id, causationId: id, actor: 'host', data };
      const decision = decide(envelope, states.get(key) ?? initialState);
      if ('accept' in decision && decision.accept.length > 0) await append(envelope, null, decision.accept);
    }
  };

  const handle = async (delivery: Delivery<CommandEnvelope>): Promise<AckOutcome> => {
    const envelope = delivery.message;
    const state = states.get(envelope.key) ?? initialState;
    const tell = (answer: Omit<CommandAnswer, 'commandId'>) => {
      if (envelope.answerTo !== undefined) ports.answers.tell(envelope.answerTo, { commandId: envelope.id, ...answer });
    };
    if (isRepeat(envelope, delivery, state)) {
      tell({ outcome: 'duplicate' });
      // An attempt that failed behind its commit has left the turn.
      await work(envelope.key);
      return { kind: 'done' };
    }
    const decision = decide(envelope, state);
    if ('refuse' in decision) tell({ outcome: 'refused', code: decision.refuse, message: decision.message });
    else if (decision.accept.length === 0) tell({ outcome: 'nothing' });
    else {
      const { seq, rev } = await append(envelope, delivery, decision.accept);
      tell({ outcome: 'accepted', seq, rev });
      await work(envelope.key);
    }
    return { kind: 'done' };
  };

  const consumption: Consumption = await ports.commands.consume({ member: 'mini-host', handle });
  return {
    hold: () => {
      held = true;
    },
    release: async () => {
      held = false;
      const keys = [...pending];
      pending.clear();
      for (const key of keys) await work(key);
    },
    state: (key) => states.get(key) ?? initialState,
    close: () => consumption.close(),
  };
};
