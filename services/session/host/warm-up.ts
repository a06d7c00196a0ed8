import { createActor } from 'xstate';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { decide } from '../../../shared/domain/session/decide/index.ts';
import type { CommandEnvelope, Commit } from '../../../shared/domain/session/envelope.ts';
import { evolve, fold, fromPlain, initialState, type SessionState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { liveMachine } from '../../../shared/domain/session/fold/steps.ts';
import { assert } from '../../../shared/kit/assert.ts';
import type { Model } from '../../../shared/ports/model.ts';
import { decodeCommand, decodeCommit, encodeCommand, encodeCommit } from '../../../shared/wire/codec.ts';
import { decodeSnapshot, encodeSnapshot, type SnapshotSigner } from '../../../shared/wire/snapshot.ts';
import { instantTurn } from '../turn/instant-turn.ts';
import { loadState } from './load.ts';

const rounds = 500;
const roundsEachSnapshot = 10;
const loadsAtOnce = 10;
const warmUpKey = 'warm-up' as SessionKey;
const unsigned: SnapshotSigner = { sign: () => new Uint8Array(), isOurs: () => true };

/**
 * Runs the code path of a turn a few hundred times, so that the engine has compiled it before the first message comes: otherwise the first turn
 * after a start takes several times as long. Loading reads a session that does not exist, as the first message of a new session does. A broker
 * that does not answer does not keep the host from starting. Nothing is written.
 */
export const warmUp = async (model: Model, ports: Parameters<typeof loadState>[0]): Promise<void> => {
  runPurePath(model);
  const loads = Array.from({ length: loadsAtOnce }, async () => {
    for (let round = 0; round < rounds / loadsAtOnce; round++) await loadState(ports, warmUpKey);
  });
  await Promise.all(loads).catch(() => {});
};

/** Writes and reads a snapshot, of which the first takes several milliseconds, and gives events to a live actor, which runs no effect. */
const runRestore = (state: SessionState, { events }: Commit): void => {
  const restored = decodeSnapshot(warmUpKey, encodeSnapshot(warmUpKey, toPlain(state), unsigned), unsigned);
  assert(restored, 'a snapshot can be read back');
  const live = createActor(liveMachine, { snapshot: fromPlain(restored).machine });
  live.start();
  for (const event of events) live.send(event);
  live.stop();
};

/** Decodes, decides, evolves, encodes and folds. */
const runPurePath = (model: Model): void => {
  let state = initialState;
  for (let round = 1; round <= rounds; round++) {
    const id = `warm-up-${round}`;
    const message = { messageId: id, text: 'hello', sender: { id: 'nobody' } };
    const envelope: CommandEnvelope = decodeCommand(
      encodeCommand({
        ...{ id, key: warmUpKey, at: 0, correlationId: id, causationId: id, actor: 'nobody' },
        data: { type: 'post_message', sessionId: 'warm-up', message },
      }),
    );
    const decision = decide(envelope, state);
    assert('accept' in decision, 'an idle session takes a message');
    const decided = decision.accept.reduce(evolve, state.machine);
    const { events, machine } = instantTurn(model, envelope, decided);
    const commit: Commit = {
      ...{ v: 2, id, key: envelope.key, rev: state.position.rev + 1, prev: state.position.digest },
      ...{ sessionId: 'warm-up', epoch: machine.context.epoch, at: 0 },
      ...{ correlationId: id, causationId: id, actor: 'nobody', command: { id, seq: round, incarnation: 1 } },
      events: [...decision.accept, ...events],
    };
    const folded = fold(state, decodeCommit(encodeCommit(commit), round, 0));
    if (round % roundsEachSnapshot === 0) runRestore(folded, commit);
    state = machine.value === 'running' ? initialState : folded;
  }
};
