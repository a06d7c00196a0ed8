import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';

/** A message that a platform has stored. `id` is that of its outbound or part. */
export interface StoredMessage {
  readonly id: string;
  readonly to: string;
}

export interface Outcome {
  /** The outbounds in the order of the log. */
  readonly outbounds: readonly string[];
  readonly stored: readonly StoredMessage[];
  /** The final record of each outbound. */
  readonly finals: ReadonlyMap<string, CustodyRecord>;
  /** The receiver recognises ids, or can be asked: nothing may stay unknown. */
  readonly canKnow: boolean;
}

/**
 * What is wrong with the messages that a platform has, given what custody says of them (I9, D12): a message twice, one missing, one out of
 * order, a part of a later reply between two of an earlier one, an outcome that says otherwise.
 */
export const violationsOf = ({ outbounds, stored, finals, canKnow }: Outcome): string[] => {
  const problems: string[] = [];
  const counts = new Map<string, number>();
  for (const { id } of stored) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const [id, count] of counts) if (count > 1) problems.push(`${id} was stored ${count} times`);
  const last = new Map<string, { place: number; id: string }>();
  for (const { id, to } of stored) {
    const [, outbound = '', part = '0'] = /^(\d+\.\d+)(?:\.p(\d+))?$/.exec(id) ?? [];
    const place = outbounds.indexOf(outbound) * 1_000 + Number(part);
    const before = last.get(to);
    if (before !== undefined && before.place > place) problems.push(`${id} was stored after ${before.id}`);
    last.set(to, { place, id });
  }
  for (const id of outbounds) problems.push(...problemsOf(id, finals.get(id), counts, canKnow));
  return problems;
};

const problemsOf = (
  id: string,
  record: CustodyRecord | undefined,
  stored: ReadonlyMap<string, number>,
  canKnow: boolean,
): string[] => {
  if (record === undefined) return [`${id} has no end`];
  const { state, parts } = record;
  const count = (parts?.cuts.length ?? 0) + 1;
  const ids = parts === undefined ? [id] : Array.from({ length: count }, (_, index) => `${id}.p${index + 1}`);
  const there = ids.filter((each) => stored.has(each)).length;
  const done = parts?.done.length ?? 0;
  const says = `${id} is ${state} with ${done} of ${count} parts done, and ${there} are there`;
  switch (state) {
    case 'delivered':
      return there === count ? [] : [says];
    case 'partial':
      return there === done && done > 0 ? [] : [says];
    case 'unknown':
      return canKnow || there < done || there > done + 1 ? [says] : [];
    case 'failed':
      return there === done ? [] : [says];
    default:
      return [says];
  }
};
