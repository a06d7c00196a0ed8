import { errorMessage } from '../../../shared/kit/errors.ts';

/** One line of the doctor's report: what was looked at, how it is, what was found, and what to do about it. */
export interface Finding {
  readonly what: string;
  /** `warn`: it works, and is not as it should be. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

export const ok = (what: string, detail: string): Finding => ({ what, level: 'ok', detail });
export const warn = (what: string, detail: string, fix: string): Finding => ({ what, level: 'warn', detail, fix });
export const fail = (what: string, detail: string, fix: string): Finding => ({ what, level: 'fail', detail, fix });

/** Turns what a look throws into a finding. */
export const looked = async (what: string, fix: string, look: () => Promise<Finding> | Finding): Promise<Finding> => {
  try {
    return await look();
  } catch (error) {
    return fail(what, errorMessage(error), fix);
  }
};
