import { errorMessage } from '../../kit/errors.ts';

/** One line of the doctor's report: the check, its result, the details and the fix. */
export interface Finding {
  readonly what: string;
  /** `warn`: it works, but should be fixed. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

export const ok = (what: string, detail: string): Finding => ({ what, level: 'ok', detail });
export const warn = (what: string, detail: string, fix: string): Finding => ({ what, level: 'warn', detail, fix });
export const fail = (what: string, detail: string, fix: string): Finding => ({ what, level: 'fail', detail, fix });

/** Runs a check; an error it throws becomes a finding with `fix`. */
export const checked = async (what: string, fix: string, check: () => Promise<Finding> | Finding): Promise<Finding> => {
  try {
    return await check();
  } catch (error) {
    return fail(what, errorMessage(error), fix);
  }
};
