import { describe, expect, test } from 'vitest';
import { Conversation } from '../../../../services/session/prompt/conversation.ts';
import { type CompactionPlan, planCompaction } from '../../../../shared/domain/prompt/compaction.ts';
import type { TurnView } from '../../../../shared/domain/prompt/conversation-message.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { advance, initialState } from '../../../../shared/domain/session/fold/evolve.ts';
import { domain, holds, type Intent, intents, play } from '../../../support/domain/arbitraries.ts';
import { problemsOf, rereadOf } from './rows.ts';

type Planning = typeof planCompaction;

/** A history whose compactions are those that a host plans, and what its conversation was after each commit while a turn ran. */
const lived = (wishes: readonly Intent[], plan: Planning = planCompaction) => {
  let conversation = new Conversation();
  const views: { readonly turnId: string; readonly view: TurnView; readonly commits: number }[] = [];
  const commits: RecordedCommit[] = [];
  const planned = (envelope: CommandEnvelope, view: TurnView): CommandEnvelope => {
    const { data } = envelope;
    if (data.type !== 'record_compaction' || data.result.kind !== 'compacted') return envelope;
    const settings = { turnId: data.turn.id, keepTokens: (view.rev * 7) % 50, roomTokens: 60 + ((view.rev * 13) % 100) };
    const made: CompactionPlan | null = plan(view, settings);
    if (made === null) return { ...envelope, data: { ...data, result: { kind: 'nothing', reason: 'nothing' } } };
    const { throughRev, keptFromSeq } = made;
    return { ...envelope, data: { ...data, result: { ...data.result, throughRev, keptFromSeq } } };
  };
  play(wishes, {
    ...domain,
    decide: (envelope, state) => {
      const view = state.machine.context.turn && conversation.view(state.machine.context.turn.id);
      return domain.decide(view ? planned(envelope, view) : envelope, state);
    },
    fold: (before, commit) => {
      const after = domain.fold(before, commit);
      conversation.add(commit);
      commits.push(commit);
      // A fork leads back to where it was not: it is read anew.
      if (!conversation.isWhole) conversation = rereadOf(commits, after.position);
      // Nor where a compaction says that it begins, if nobody planned that.
      if (!conversation.isWhole || conversation.rev < commit.rev) {
        conversation = rereadOf(commits, { ...after.position, contextSeq: 1 });
      }
      const turnId = after.machine.context.turn?.id;
      const view = turnId === undefined ? null : conversation.view(turnId);
      if (turnId !== undefined && view === null) throw new Error(`turn ${turnId} sees nothing`);
      if (turnId !== undefined && view !== null) views.push({ turnId, view, commits: commits.length });
      return after;
    },
  });
  return { commits, views };
};

const messagesOf = ({ said }: TurnView) => said.map(({ message }) => message);

/** Every call has exactly one result, in the order of the calls and right behind them; in the flush too. */
const areWhole = (views: readonly { readonly view: TurnView }[]): void => {
  for (const { view } of views) expect([...problemsOf(messagesOf(view)), ...problemsOf(view.flush)]).toEqual([]);
};

describe('the conversation of any history', () => {
  test('I6, A11/126: no call loses its result, whatever is recorded and wherever a summary ends', () => {
    const shuffled = (wishes: readonly Intent[]): void =>
      areWhole(
        lived(wishes).views.map(({ view }) => {
          const tool = view.said.findIndex(({ message }) => message.role === 'tool');
          return { view: { ...view, said: view.said.toSpliced(tool, tool === -1 ? 0 : 1) } };
        }),
      );
    holds(intents, (wishes) => areWhole(lived(wishes).views), { 'a result is missing': shuffled });
  });

  test('wherever compactions that nobody planned end', () => {
    holds(intents, (wishes) => areWhole(lived(wishes, () => astray(wishes.length)).views), {});
  });

  test('I4: read from where the position says it begins, it is the one read from the beginning', () => {
    const resumed = (wishes: readonly Intent[], plan?: Planning): void => {
      const { commits, views } = lived(wishes, plan);
      for (const { turnId, view, commits: count } of views) {
        const read = commits.slice(0, count);
        const late = rereadOf(read, read.reduce(advance, initialState.position));
        expect([late.isWhole, late.view(turnId)]).toEqual([true, view]);
      }
    };
    const forgets =
      (change: (plan: CompactionPlan, view: TurnView) => Partial<CompactionPlan>): Planning =>
      (view, settings) => {
        const plan = planCompaction(view as TurnView, settings);
        return plan && { ...plan, ...change(plan, view as TurnView) };
      };
    holds(intents, (wishes) => resumed(wishes), {
      'reading begins after the last commit': (wishes) =>
        resumed(
          wishes,
          forgets((_, { seq }) => ({ keptFromSeq: seq + 1 })),
        ),
      'reading begins right after what was summarised': (wishes) =>
        resumed(
          wishes,
          forgets(({ throughRev }) => ({ keptFromSeq: 2 * throughRev + 2 })),
        ),
    });
  });

  test('A11/126: what the running turn is about is never summarised away', () => {
    const isThere = (wishes: readonly Intent[]): void => {
      for (const { view } of lived(wishes).views) {
        const texts = messagesOf(view).map(({ text }) => text);
        // Instructions for a compaction are no message.
        const isMessage = !['', 'keep the names'].includes(view.prompt);
        for (const asked of isMessage ? view.prompt.split('\n\n') : []) expect(texts).toContain(asked);
      }
    };
    holds(intents, isThere, {});
  });

  test('B14: a compaction leaves no more than it was told to, and its next one finds less to do', () => {
    const wish = (wishes: readonly Intent[]): void => {
      for (const { view, turnId } of lived(wishes).views) {
        const plan = planCompaction(view, { turnId, keepTokens: 10, roomTokens: 80 });
        if (plan === null) continue;
        expect(problemsOf(plan.older)).toEqual([]);
        expect(problemsOf(plan.kept)).toEqual([]);
        expect([...plan.older, ...plan.kept]).toHaveLength(view.said.length);
        expect(plan.throughRev).toBeLessThanOrEqual(view.rev);
        expect(plan.keptFromSeq).toBeLessThanOrEqual(view.neededSeq);
      }
    };
    holds(intents, wish, {});
  });
});

/** Ends at some commit and says that reading begins at some other. */
const astray = (number: number): CompactionPlan => ({
  older: [],
  kept: [],
  throughRev: 1 + (number % 20),
  keptFromSeq: 1 + ((number * 3) % 40),
});

test('histories have compactions with something before and after them: without this the properties would prove little', () => {
  const seen = { kept: 0, summaries: 0, calls: 0, joined: 0, forks: 0 };
  holds(
    intents,
    (wishes) => {
      const { commits, views } = lived(wishes);
      if (commits.reduce(advance, initialState.position).skips.length > 0) seen.forks++;
      for (const { view } of views) {
        const [first, ...others] = view.said;
        if (first?.summary) seen.summaries++;
        if (first?.summary && others.length > 2) seen.kept++;
        if (others.some(({ message }) => message.role === 'tool')) seen.calls++;
        if (view.heard > 0) seen.joined++;
      }
    },
    {},
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(5);
});
