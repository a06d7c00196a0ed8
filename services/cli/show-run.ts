import type { Run } from '../../shared/client/main.ts';
import { withoutSilence } from '../../shared/domain/values/silence.ts';
import { asJson, type World } from './terminal.ts';

/** Prints the outcome of a run. Sets exit code 1 if it failed or is not done. */
export const showRun = ({ terminal }: World, key: string, run: Run, json: boolean): void => {
  const { runId, status } = run;
  if (status === 'error' || status === 'timeout') process.exitCode = 1;
  if (json) return terminal.out(asJson(run, 2));
  if (status === 'ok') return terminal.out(withoutSilence(run.reply ?? '').trim() || '(no reply)');
  if (status === 'error') return terminal.note(`run ${runId} failed: ${run.error.message}`);
  if (status === 'timeout')
    return terminal.note(`run ${runId} is still running; see its answer with: natter tail --key ${key} --from 1`);
  terminal.out(`${status} ${runId}`);
};
