import { allOn, type SafetyToggles } from '../../../services/session/turn/safety-toggles.ts';
import type { SeededFaults } from '../../../shared/adapters/in-memory/faults.ts';
import { type Grouping, ungrouped } from '../../../shared/adapters/streams/group-commit.ts';
import { randomOf } from '../random.ts';

/** How often each fault happens. */
export type FaultRates = ConstructorParameters<typeof SeededFaults>[0]['rates'];

/** Everything that makes one run: the same options give the same history. */
export interface SimOptions {
  readonly seed: number;
  readonly steps: number;
  readonly semantics: 'R1' | 'R3';
  readonly partitions: number;
  readonly keys: number;
  readonly clients: number;
  readonly hosts: number;
  readonly checkpoints: number;
  /** Sessions one host may hold: with few, they come and go. */
  readonly residents: number;
  readonly commitPatienceMs: number;
  readonly maxAckPending: number;
  /** Off: a host keeps the sessions of a partition that it loses, and goes on with them as it knows them when the partition comes back. */
  readonly forgetsLost: boolean;
  readonly faults: { readonly log: FaultRates; readonly caches: FaultRates; readonly queues: FaultRates };
  /** Tokens of the model's window, and of the latest messages that a compaction leaves as they are. */
  readonly windowTokens: number;
  readonly keepTokens: number;
  readonly maxDelayMs: number;
  readonly maxLateMs: number;
  /** Longest ordinary pause between two steps. */
  readonly pauseMs: number;
  /** What the steps are, by weight. */
  readonly weights: Readonly<Record<StepName, number>>;
  readonly safetyToggles: SafetyToggles;
  /**
   * What the store under the log does: with `damaged` it loses or changes commits, which people sometimes repair; with `rolled back` the log goes
   * back to an older copy for a while; with `lost` it does so once and for good, and a person accepts that.
   */
  readonly store: 'sound' | 'damaged' | 'rolled back' | 'lost';
  /** Off: a process writes what it derives from the log whatever it holds of it. */
  readonly guardsCaches: boolean;
  /** Off: nobody accepts that the end of the log is lost. */
  readonly accepts: boolean;
  /** Off: who accepts a loss gives no sequences up. */
  readonly givesUp: boolean;
  /** Off: hosts write to a log that is `rolled back` as to any other. */
  readonly guards: boolean;
  /** Off: who compares the log with what was seen of it always finds that it is the same. */
  readonly compares: boolean;
  /** Off: hosts see no hole in the history that they load. */
  readonly chain: boolean;
  /** When the commits of a host go together. */
  readonly grouping: Grouping;
  /** Off: a group of commits is stored whatever the log holds. */
  readonly groupFences: boolean;
}

export type StepName =
  | 'post'
  | 'think'
  | 'steps'
  | 'fail'
  | 'append'
  | 'stop'
  | 'reset'
  | 'expire'
  | 'patch'
  | 'delete'
  | 'open'
  | 'deactivate'
  | 'resend'
  | 'retell'
  | 'schedule'
  | 'ask'
  | 'call'
  | 'queue'
  | 'answer'
  | 'compact'
  | 'poison'
  | 'flood'
  | 'crash'
  | 'pause'
  | 'leave'
  | 'outage'
  | 'restart'
  | 'crash-checkpoint'
  | 'wait'
  | 'damage'
  | 'repair'
  | 'rollback';

const calm: FaultRates = {};
const mild: FaultRates = { unavailable: 0.01, request_lost: 0.005, answer_lost: 0.01, landed_late: 0.005, stale: 0.05 };
const harsh: FaultRates = { unavailable: 0.04, request_lost: 0.03, answer_lost: 0.05, landed_late: 0.03, stale: 0.2 };
const stale: FaultRates = { stale: 0.3 };
const queueRates = ({ stale: _, ...rates }: FaultRates): FaultRates => rates;

/** The options that a seed stands for. */
export const optionsOf = (seed: number, change: Partial<SimOptions> = {}): SimOptions => {
  const random = randomOf(seed);
  const rates = (): FaultRates => random.pick([calm, mild, mild, harsh, stale]);
  const { store = 'sound' } = change;
  const often = (share: number, weight: number): number => (random.chance(share) ? weight : 0);
  return {
    seed,
    steps: 200,
    semantics: random.pick(['R1', 'R3'] as const),
    partitions: random.between(2, 6),
    keys: random.between(1, 6),
    clients: random.between(1, 3),
    hosts: 3,
    checkpoints: random.between(1, 2),
    residents: random.pick([2, 3, 20]),
    commitPatienceMs: random.pick([0, 500, 10_000]),
    maxAckPending: 1,
    forgetsLost: true,
    faults: { log: { ...rates(), incomplete: 0.1 }, caches: rates(), queues: queueRates(rates()) },
    maxDelayMs: random.pick([0, 3, 3, 40]),
    maxLateMs: random.pick([10, 5_000]),
    pauseMs: random.pick([5, 60, 60, 400]),
    weights: {
      post: 24,
      think: 18,
      steps: 10,
      fail: 2,
      append: 10,
      stop: 5,
      reset: 3,
      expire: 4,
      patch: 2,
      delete: 2,
      open: 2,
      deactivate: 5,
      resend: 5,
      retell: 3,
      schedule: 3,
      ask: 2,
      call: 12,
      queue: 12,
      answer: 8,
      compact: 2,
      poison: often(0.1, 1),
      flood: often(0.04, 2),
      crash: random.chance(0.2) ? 16 : often(0.6, 3),
      pause: often(0.6, 2),
      leave: often(0.5, 2),
      outage: often(0.4, 1),
      'crash-checkpoint': often(0.3, 1),
      wait: often(0.7, 2),
      restart: often(0.4, 2),
      damage: store === 'damaged' ? 3 : 0,
      rollback: { 'rolled back': 2, lost: 4, sound: 0, damaged: 0 }[store],
      repair: store === 'damaged' ? often(0.6, 6) : 0,
    },
    windowTokens: random.pick([1_000, 128_000]),
    keepTokens: random.pick([50, 500]),
    safetyToggles: allOn,
    store,
    accepts: true,
    guardsCaches: true,
    givesUp: true,
    guards: true,
    compares: true,
    chain: true,
    grouping: random.pick([{ from: 1, singles: 1 }, { from: 2, singles: 1 }, ungrouped]),
    groupFences: true,
    ...change,
  };
};
