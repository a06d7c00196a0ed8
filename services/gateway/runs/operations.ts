import { z } from 'zod';
import { keyOfRun } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { type Run, waitedFor } from '../../../shared/domain/projections/run.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { olderRuns } from '../context/runs.ts';
import { waitParameter } from '../http/input.ts';
import { type Call, method, type Operation, operation } from '../operation/operation.ts';
import * as results from '../operation/results.ts';
import { sessionRoute } from '../operation/route.ts';
import * as samples from '../operation/samples.ts';
import { cancelRun } from '../sessions/control.ts';
import { conditional, withoutKey, writing } from '../sessions/parameters.ts';

/** What became of a run, from the log, on any replica (A10/122). */

const runQuery = z.object({ wait: waitParameter });
const waitParameters = z.strictObject({
  runId: z.string().min(1).max(limits.idCharacters),
  /** Where the run's id does not say it: that of a run begun by another call, or under a very long key. */
  sessionKey: z.string().min(1).max(1_024).optional(),
  timeoutMs: z
    .int()
    .min(0)
    .transform((ms) => Math.min(ms, limits.waitSeconds * 1_000))
    .default(30_000),
});

interface RunQuery {
  readonly key: SessionKey;
  readonly runId: string;
  readonly waitMs: number;
  /** Says that there is no such run. */
  missing(): NatterError;
}

/** The run as it is, or once it is over, if the caller waits for that. Throws `missing()` for one that is not found, and `noSuchSession()`. */
const readRun = async ({ context, caller, signal }: Call, { key, runId, waitMs, missing }: RunQuery): Promise<Run> => {
  const { access, runs } = context;
  const after = await access.enter(caller.principal, key);
  const run = waitMs > 0 ? await runs.await(key, runId, { after, waitMs, signal }) : await runs.status(key, runId, after);
  if (run === null) throw missing();
  return run;
};

const noRunIn = (key: SessionKey, runId: string): NatterError =>
  new NatterError('not_found', `session ${key} has no run ${runId}; ${olderRuns}`, { field: 'runId' });
const noSuchRun = (): NatterError =>
  new NatterError('not_found', `runId: there is no such run, or it is not yours to see; ${olderRuns}`, { field: 'runId' });

export const runOperations: readonly Operation[] = [
  operation(cancelRun, {
    ...{ id: 'cancelRun', tag: 'messages', changes: 'sessions' },
    summary: 'Takes a message out of the queue before its turn begins',
    http: sessionRoute({
      ...{ method: 'delete', path: '/runs/:runId', headers: conditional, refusesBody: true },
      answers: { 200: results.takenResult, 202: results.takenResult },
      examples: { answer: samples.takenSample },
      problems: [...writing, 'not_queued', 'stop_forbidden'],
      input: ({ path: { runId = '' }, ...given }) => ({ ...given, runId }),
      output: withoutKey,
    }),
  }),
  operation(readRun, {
    ...{ id: 'readRun', tag: 'messages', changes: 'nothing' },
    summary: 'Returns the outcome of a run, and optionally waits for its end',
    http: sessionRoute({
      ...{ method: 'get', path: '/runs/:runId', query: runQuery },
      answers: { 200: results.runResult },
      examples: { answer: samples.runSample },
      problems: ['not_found', 'quarantined', 'damaged'],
      input: ({ key, path: { runId = '' }, query }) => ({
        ...{ key, runId, waitMs: query.wait * 1_000 },
        missing: () => noRunIn(key, runId),
      }),
      waitMs: ({ query }) => query.wait * 1_000,
    }),
    rpc: method({
      ...{ name: 'agent.wait', parameters: waitParameters },
      input: ({ runId, sessionKey, timeoutMs: waitMs }, { config }) => {
        const key = sessionKey === undefined ? keyOfRun(runId) : keyFrom(config, sessionKey);
        if (key === null) throw noSuchRun();
        return { key, runId, waitMs, missing: noSuchRun };
      },
      waitMs: ({ timeoutMs }) => timeoutMs,
      output: (run) => waitedFor(run),
    }),
  }),
];
