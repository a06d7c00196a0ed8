import { beginningOf, beginningsOf } from './checkers/i6-calls.ts';
import type { History } from './history.ts';

/**
 * A loss that a person has accepted makes two lives of one (I13), and each is held to every invariant. The first has the log as it was, and
 * all that was done by those who had seen it. The second has the log as it is now, what others did, and of the first what the log has kept:
 * of all that was acknowledged before, exactly what was recorded in the lost part may be missing.
 */
export const livesOf = (history: History): History[] => {
  const [loss] = history.losses;
  if (loss === undefined) return [history];
  const { log, sawIt, to } = loss;
  const before = <T extends { readonly host: string }>(items: readonly T[]): T[] => items.filter(({ host }) => sawIt.has(host));
  const since = <T extends { readonly host: string }>(items: readonly T[]): T[] => items.filter(({ host }) => !sawIt.has(host));
  const told = new Set(before(history.told).map(({ answer }) => answer.commandId));
  const kept = beginningsOf({ commits: log.filter(({ seq }) => seq <= to) });
  return [
    {
      ...history,
      commits: log,
      sent: history.sent.map((one) => ({ ...one, acknowledged: false })),
      told: before(history.told),
      modelCalls: before(history.modelCalls),
      effects: before(history.effects),
      snapshots: before(history.snapshots),
      ...{ rollbacks: [], losses: [], index: null, unfinished: 0, isCut: true },
    },
    {
      ...history,
      sent: history.sent.map((one) => (told.has(one.envelope.id) && !one.isLost ? { ...one, acknowledged: false } : one)),
      told: since(history.told),
      modelCalls: history.modelCalls.filter(({ host, at }) => !sawIt.has(host) || at <= to),
      effects: history.effects.filter((effect) => !sawIt.has(effect.host) || beginningOf(kept, effect) !== undefined),
      snapshots: since(history.snapshots),
    },
  ];
};
