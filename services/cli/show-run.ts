import type { Run } from '../../shared/client/main.ts';
import { nextStep } from '../../shared/domain/prompt/model-failure.ts';
import { withoutSilence } from '../../shared/domain/values/silence.ts';
import { printable } from '../../shared/kit/scrub.ts';
import { asJson, type World } from './terminal.ts';

const columnsOf = (output: World['output']): number => ((output as NodeJS.WriteStream).columns ?? 80) - 1;

/** Prints the outcome of a run. Sets exit code 1 if it failed or is not done. */
export const showRun = async ({ terminal, output }: World, key: string, run: Run, json: boolean): Promise<void> => {
  const { runId, status } = run;
  if (status === 'error' || status === 'timeout') process.exitCode = 1;
  if (json) return terminal.out(asJson(run, 2));
  if (status === 'ok') {
    const reply = withoutSilence(run.reply ?? '').trim() || '(no reply)';
    if (!terminal.interactive) return terminal.out(printable(reply));
    // Loaded on demand: a program that reads the answer needs no Markdown.
    const { markdownLines } = await import('./text/markdown.ts');
    for (const line of markdownLines(reply, columnsOf(output))) terminal.out(line);
    return;
  }
  if (status === 'error') {
    terminal.note(`run ${runId} failed: ${run.error.message}`);
    const next = nextStep(run.error);
    if (next !== null) terminal.note(next);
    return;
  }
  if (status === 'timeout')
    return terminal.note(
      `no answer yet; run ${runId} goes on. See its answer later with: natter chat ${key}, or natter tail --key ${key} --from 1`,
    );
  terminal.out(`${status} ${runId}`);
};
