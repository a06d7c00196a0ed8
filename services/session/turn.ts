import type { ActiveTurn } from '../../shared/domain/session/context.ts';
import { callIdOf } from '../../shared/domain/session/decide/turn.ts';
import type { Ruling, StepOutcome } from '../../shared/domain/values/types.ts';
import { assert } from '../../shared/kit/assert.ts';
import type { Attempt } from './attempt.ts';
import { finishCalls } from './calls.ts';
import { askModel } from './model-step.ts';
import { pruned } from './prompt/prune.ts';
import { compaction, flushStep, isFlushing, isTight, mayFlush, type StepScene } from './room.ts';
import { rulingOf } from './rulings.ts';
import { type Scene, sceneOf, withSpawned } from './scene.ts';
import { dispatchStep } from './skill-call.ts';

/**
 * A turn is a loop over recorded facts: it looks where the turn stands in the log, makes the next move, records it and looks again. So
 * a turn that lost its host goes on where the log ends, and repeats nothing (I6). Ends when the attempt is over.
 */
export const runTurn = async (attempt: Attempt): Promise<void> => {
  for (let turn = attempt.turn(); turn !== null; turn = attempt.turn()) {
    const restMs = (turn.quietUntil ?? 0) - attempt.services.clock.now();
    const moved = restMs > 0 ? await rest(attempt, restMs) : await move(attempt, turn);
    assert(moved || attempt.turn() === null, `the turn moves on from step ${turn.step}`);
  }
};

/** Others may join the turn meanwhile, and make it wait longer (B6). */
const rest = async (attempt: Attempt, restMs: number): Promise<boolean> => {
  attempt.progressed(restMs);
  await attempt.services.clock.sleep(restMs, attempt.signal);
  return true;
};

/** Each move records something; false: it did not. */
const move = async (attempt: Attempt, turn: ActiveTurn): Promise<boolean> => {
  const scene = await sceneOf(attempt, turn);
  if (turn.calls.some(({ status }) => status !== 'done')) return finishCalls(attempt, turn, scene);
  const prompt = await attempt.prompt(scene);
  const ready: StepScene = { ...scene, prompt, model: attempt.model };
  return turn.task ? compactNow(attempt, turn, ready) : takeStep(attempt, turn, ready);
};

/** A turn that is there for the compaction (A11/126). */
const compactNow = async (attempt: Attempt, turn: ActiveTurn, scene: StepScene): Promise<boolean> => {
  const result = await compaction(attempt, turn, scene, 'asked');
  if (result.kind === 'failed') return recordStep(attempt, turn, scene, result);
  return isAccepted(await attempt.record({ type: 'record_compaction', turn: attempt.ref, result }));
};

const takeStep = async (attempt: Attempt, turn: ActiveTurn, scene: StepScene): Promise<boolean> => {
  const dispatched = dispatchStep(turn, scene.view, scene.called);
  if (dispatched) return recordStep(attempt, turn, scene, dispatched);
  const isFull = attempt.madeRoomAt !== turn.step && isTight(attempt, scene);
  const flushes = isFlushing(scene) || (isFull && mayFlush(attempt, scene));
  if (flushes && (await flush(attempt, turn, scene))) return true;
  if (isFull && (await makeRoom(attempt, turn, scene, 'tight'))) return true;
  const outcome = await askModel(attempt, scene.model, askingOf(attempt, turn, scene));
  const isOverflow = outcome.kind === 'failed' && outcome.code === 'context_overflow';
  if (isOverflow && (await makeRoom(attempt, turn, scene, 'overflow'))) return true;
  return recordStep(attempt, turn, scene, outcome);
};

const askingOf = ({ services: { config } }: Attempt, { step }: ActiveTurn, { view, tools, prompt, model }: StepScene) => {
  const said = view.said.map(({ message }) => message);
  const messages = config.context.pruneToolResults ? pruned(said, model) : said;
  return { step, system: prompt.text, messages, tools, prompt: view.prompt };
};

/** Notes before a compaction (A7/85). Without them it goes on: they are a kindness, not a condition. */
const flush = async (attempt: Attempt, turn: ActiveTurn, scene: StepScene): Promise<boolean> => {
  const outcome = await flushStep(attempt, turn, scene);
  return outcome.kind !== 'failed' && recordStep(attempt, turn, scene, outcome, true);
};

/** Once before each step: what does not fit after that will not fit (A11/126). */
const makeRoom = async (attempt: Attempt, turn: ActiveTurn, scene: StepScene, cause: 'tight' | 'overflow'): Promise<boolean> => {
  if (attempt.madeRoomAt === turn.step) return false;
  attempt.madeRoomAt = turn.step;
  const result = await compaction(attempt, turn, scene, cause);
  if (result.kind !== 'compacted') return false;
  return isAccepted(await attempt.record({ type: 'record_compaction', turn: attempt.ref, result }));
};

/** The step and the policy's word on its calls are one commit: the intent is there before anything runs (I6). */
const recordStep = async (
  attempt: Attempt,
  turn: ActiveTurn,
  scene: StepScene,
  outcome: StepOutcome,
  isFlush = false,
): Promise<boolean> => {
  const command = { type: 'record_step', turn: attempt.ref, step: turn.step } as const;
  const recorded = await attempt.record({
    ...command,
    outcome,
    heard: scene.view.heard,
    rulings: rulingsOf(attempt, turn, scene, outcome, isFlush),
    prompt: [...scene.prompt.parts],
    skills: [...scene.skills.refs],
    ...(isFlush && { flush: true }),
  });
  if (recorded.kind !== 'refused') return isAccepted(recorded);
  const { message } = recorded;
  return isAccepted(await attempt.record({ ...command, outcome: { kind: 'failed', code: 'output_too_large', message } }));
};

/** In the order of the calls: a run that one of them begins counts for those behind it. */
const rulingsOf = (
  attempt: Attempt,
  { id, step }: ActiveTurn,
  scene: Scene,
  outcome: StepOutcome,
  isSilent: boolean,
): Ruling[] => {
  const rulings: Ruling[] = [];
  for (const [index, call] of (outcome.kind === 'continue' ? (outcome.calls ?? []) : []).entries()) {
    const begun = rulings.flatMap((ruling) => (ruling.kind === 'run' && ruling.spawn ? [ruling.spawn] : []));
    const named = { ...call, callId: callIdOf(id, step, index) };
    rulings.push(rulingOf(attempt, withSpawned(scene, begun), named, isSilent));
  }
  return rulings;
};

const isAccepted = ({ kind }: { readonly kind: string }): boolean => kind === 'accepted';
