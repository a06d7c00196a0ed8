import { checkAll } from './checkers/all.ts';
import { withForbiddenGlobals } from './forbidden.ts';
import type { History } from './history.ts';
import { type Random, randomOf } from './random.ts';
import { sometimes } from './sometimes.ts';
import { Observer } from './world/observer.ts';
import { optionsOf, type SimOptions, type StepName } from './world/options.ts';
import { VirtualClock } from './world/virtual-clock.ts';
import { Workload } from './world/workload.ts';
import { World } from './world/world.ts';

export interface Run {
  readonly options: SimOptions;
  readonly history: History;
  /** Everything that is wrong. */
  readonly findings: readonly string[];
  /** How often each thing happened that makes a run worth its time. */
  readonly sometimes: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
}

/** Virtual time the healed system may go without a new fact and not be at rest (I10), in all, and how often we look. */
const stallMs = 60_000;
const healMs = 600_000;
const lookMs = 250;
/** Messages that are sent again when the broker has forgotten their ids, and how often a host is killed meanwhile. */
const brokerForgetsMs = 125_000;
const lateCopies = 40;
const lateCrash = 0.05;
const startedAt = 1_790_000_000_000;

/** One whole life of a system: trouble, healing, rest, a clean stop. The same seed and changes give the same run. */
export const simulate = (seed: number, change: Partial<SimOptions> = {}): Promise<Run> =>
  withForbiddenGlobals(async (forbidden) => {
    const options = optionsOf(seed, change);
    const clock = new VirtualClock(startedAt);
    const world = new World(options, clock);
    const random = randomOf(seed * 7 + 5);
    const workload = new Workload(options, world.system, clock, random, world.recorder);

    world.start();
    await clock.pass(50);
    for (let step = 0; step < options.steps; step++) {
      const name = random.weighted(options.weights);
      if (!workload.step(name)) trouble(world, name);
      await clock.pass(pauseAfter(name, options, random));
      world.look();
    }

    world.heal();
    workload.finish();
    const observer = new Observer(world.system, clock, world.recorder);
    const isAtRest = async (): Promise<boolean> =>
      workload.isDone() && (await world.system.commands.lag()) === 0 && observer.isAtRest();
    const rest = async (): Promise<void> => {
      for (let waitedMs = 0, stalledMs = 0, known = 0; stalledMs < stallMs && waitedMs < healMs; waitedMs += lookMs) {
        await clock.pass(lookMs);
        if (world.recorder.isBack) {
          stalledMs += lookMs;
          continue;
        }
        const commits = world.recorder.upToDate();
        observer.look(commits);
        if (await isAtRest()) break;
        for (const { key, approvalId } of observer.waiting()) workload.approve(key, approvalId);
        stalledMs = commits.length > known ? 0 : stalledMs + lookMs;
        known = commits.length;
      }
    };
    await rest();
    await clock.pass(brokerForgetsMs);
    for (let copies = 0; copies < lateCopies; copies++) {
      workload.repeatLate();
      if (random.chance(lateCrash)) world.crash('host');
      await clock.pass(random.next() * options.pauseMs);
      world.look();
    }
    await rest();
    const unfinished = (await world.system.commands.lag()) + workload.pending;
    await world.stop();

    const history = world.recorder.history(observer.index(), unfinished);
    return {
      options,
      history,
      findings: [...checkAll(history), ...[...forbidden].map((use) => `determinism: product code used ${use}`)],
      sometimes: sometimes(history, world, options),
      trace: world.recorder.trace,
    };
  });

const trouble = (world: World, name: StepName): void => {
  if (name === 'crash') world.crash('host');
  if (name === 'crash-checkpoint') world.crash('checkpoint');
  if (name === 'pause') world.pause();
  if (name === 'leave') world.leave();
  if (name === 'outage') world.outage();
  if (name === 'restart') world.restart();
  if (name === 'damage') world.damage();
  if (name === 'rollback') world.rollBack();
};

/** Most steps follow each other closely; some leave time for a takeover, few for the broker to forget which ids it has seen. */
const pauseAfter = (name: StepName, { pauseMs }: SimOptions, random: Random): number =>
  name === 'wait' ? random.pick([2_500, 2_500, 8_000, 130_000]) : random.next() * pauseMs;
