import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { toShown } from '../../../shared/domain/session/fold/evolve.ts';
import { type PageRange, pageOf } from '../history/page-of.ts';
import { afterCommit, formatCursor, logPosition } from '../http/cursor.ts';
import { afterParameter, beforeParameter, limitParameter, momentParameter } from '../http/input.ts';
import { sendTagged } from '../operation/etag.ts';
import { type Call, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { changesBetween, type Span } from './diff.ts';
import { reading } from './parameters.ts';
import { type Moment, stateAt } from './state.ts';

/** What is recorded of a session: its log as it is, and its state by the fold of that log, now or at a moment of its past (I4). */

const storedQuery = z.object({ after: afterParameter.optional(), limit: limitParameter(100) });
const commitsQuery = storedQuery.extend({ before: beforeParameter.optional() });
const stateQuery = z.object({ at: momentParameter.optional() });
const diffQuery = z.object({ from: momentParameter, to: momentParameter.optional(), limit: limitParameter(100) });

const past = [...reading, 'erased', 'history_too_long'] as const;

interface CommitRange extends PageRange {
  readonly key: SessionKey;
}

const readCommits = async ({ context, caller }: Call, { key, ...range }: CommitRange) => {
  const { row, after: since } = await context.access.read(caller.principal, key);
  const page = await pageOf(context.ports.events, { ...range, key, last: row, since }, (commit) => [
    { cursor: afterCommit(commit.seq), item: commit },
  ]);
  const { items: commits, next, more, gaps } = page;
  return { commits, next, more, gaps: gaps.map(({ key: _, ...gap }) => gap) };
};

const readStored = async ({ context, caller }: Call, { key, after = afterCommit(0), limit }: CommitRange) => {
  const seen = await context.access.read(caller.principal, key);
  const from = Math.max(seen.after, logPosition(after));
  const { messages, more } = await context.ports.events.raw({ after: from, limit, key });
  const commits = messages.map(({ seq, recordedAt, bytes }) => ({
    seq,
    recordedAt,
    bytes: Buffer.from(bytes).toString('base64'),
  }));
  return { commits, next: formatCursor(afterCommit(messages.at(-1)?.seq ?? from)), more };
};

const readState = async (call: Call, { key, at }: { key: SessionKey; at?: Moment | undefined }) => {
  const { access, ports, replays } = call.context;
  const { after: since } = await access.read(call.caller.principal, key);
  const state = async () => {
    const { from, ...found } = await stateAt(ports, key, at, since);
    return { key, ...toShown(found), from };
  };
  return at === undefined ? state() : replays.during(call.caller.actor, state);
};

const readDiff = async (call: Call, { key, ...span }: Omit<Span, 'since'> & { readonly key: SessionKey }) => {
  const { access, ports, replays } = call.context;
  const { after: since } = await access.read(call.caller.principal, key);
  return replays.during(call.caller.actor, () => changesBetween(ports, key, { ...span, since }));
};

export const historyOperations: readonly Operation[] = [
  operation(readCommits, {
    ...{ id: 'readCommits', tag: 'sessions', changes: 'nothing' },
    summary: 'Pages the commits of a session as they are stored; with `before`, newest first',
    http: sessionRoute({
      ...{ method: 'get', path: '/commits', query: commitsQuery },
      answers: { 200: results.commits },
      examples: { answer: { commits: [samples.commit], ...samples.page } },
      problems: reading,
      input: ({ key, query }) => ({ key, ...query }),
    }),
  }),
  operation(readStored, {
    ...{ id: 'readStoredCommits', tag: 'sessions', changes: 'nothing' },
    summary: 'Pages the bytes of the commits of a session, so that anyone can check its chain of digests',
    http: sessionRoute({
      ...{ method: 'get', path: '/commits/stored', query: storedQuery },
      answers: { 200: results.storedCommits },
      examples: { answer: { commits: [samples.storedCommit], ...samples.page } },
      problems: reading,
      input: ({ key, query }) => ({ key, ...query }),
    }),
  }),
  operation(readState, {
    ...{ id: 'readState', tag: 'sessions', changes: 'nothing' },
    summary: 'Returns the state of a session, now or at an earlier moment',
    http: sessionRoute({
      ...{ method: 'get', path: '/state', query: stateQuery, headers: ['If-None-Match'] },
      answers: { 200: results.state, 304: [] },
      problems: past,
      input: ({ key, query }) => ({ key, ...query }),
      send: (reply, state) => sendTagged(reply, state.position.seq, state),
    }),
  }),
  operation(readDiff, {
    ...{ id: 'readDiff', tag: 'sessions', changes: 'nothing' },
    summary: 'Compares a session at two moments',
    http: sessionRoute({
      ...{ method: 'get', path: '/diff', query: diffQuery },
      answers: { 200: results.diff },
      examples: {
        answer: {
          key: samples.key,
          from: { seq: 0, rev: 0, at: 0 },
          to: { seq: 41, rev: 6, at: samples.at },
          changes: [{ path: 'messages', before: 0, after: 1 }],
          events: [samples.event],
          ...samples.page,
        },
      },
      problems: past,
      input: ({ key, query }) => ({ key, ...query }),
    }),
  }),
];
