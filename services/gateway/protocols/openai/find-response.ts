import type { Principal } from '../../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { hasCode } from '../../../../shared/kit/errors.ts';
import { findRun } from '../../../../shared/runtime/session-tools/find-run.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import { Answer } from '../../runs/answer.ts';
import { Failure } from './format/failure.ts';
import { runOfResponse } from './format/ids.ts';
import { isUnstored } from './format/session-names.ts';

/** The runs that a commit begins with a message or with results. */
export const runsBegunBy = ({ events }: RecordedCommit): string[] =>
  events.flatMap((event) => {
    if (event.type === 'client_results_received') return [event.runId];
    return event.type === 'user_message' ? (event.turnId ?? []) : [];
  });

/** The answer of a run, from the log; `null` if the run is not known after the sequence `after`. */
export const answerOf = async (
  ports: GatewayContext['ports'],
  key: SessionKey,
  runId: string,
  after: number,
): Promise<Answer | null> => {
  const answer = new Answer(runId);
  await findRun(ports, key, runId, after, (commit, traced) => answer.take(commit, traced));
  return answer.run === null ? null : answer;
};

/**
 * The run of a response that the caller may see, with the sequence `seen` up to which they see nothing. `field` and `code` name the wrong id; a missing one and somebody else's are answered alike
 * (A8/89).
 */
export const findResponse = async (
  { access, ports }: GatewayContext,
  principal: Principal,
  id: string,
  { field, code }: { readonly field: string; readonly code: string },
): Promise<{ key: SessionKey; runId: string; seen: number; answer: Answer }> => {
  const none = new Failure(404, code, `${field}: there is no such response, or it is not yours to see`, field);
  const run = runOfResponse(id);
  if (run === null || isUnstored(run.key)) throw none;
  const { after: seen } = await access.read(principal, run.key).catch((error: unknown) => {
    throw hasCode(error, 'not_found') ? none : error;
  });
  const answer = await answerOf(ports, run.key, run.runId, seen);
  if (answer === null) throw none;
  return { ...run, seen, answer };
};
