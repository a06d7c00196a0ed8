import { ownersOnly } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';
import { logLevels } from './results.ts';

export interface LogQuery {
  readonly after?: number | undefined;
  readonly limit: number;
  readonly level: (typeof logLevels)[number];
  /** Only lines that have this text. */
  readonly text?: string | undefined;
}

interface Line {
  readonly level: (typeof logLevels)[number];
  readonly time: string;
  readonly msg?: string;
}

/** A finished line; `null` if it is not one of ours. */
const lineOf = (text: string): Line | null => {
  try {
    const line = JSON.parse(text) as Line;
    return logLevels.includes(line.level) ? line : null;
  } catch {
    return null;
  }
};

/** The newest lines of this process's log after a number, oldest first. Secrets were hidden when they were written (I12). */
export const readLog = (call: Call, { after = 0, limit, level, text }: LogQuery) => {
  ownersOnly(call.caller.principal, 'the log');
  const recent = call.context.insight?.recentLog;
  const least = logLevels.indexOf(level);
  const wants = (line: string): boolean => {
    if (text !== undefined && !line.toLowerCase().includes(text.toLowerCase())) return false;
    const read = lineOf(line);
    return read !== null && logLevels.indexOf(read.level) >= least;
  };
  const lines = (recent?.after(after, limit, wants) ?? []).flatMap(({ number, text: line }) => {
    const read = lineOf(line);
    if (read === null) return [];
    const { level: of, time, msg = '', ...fields } = read;
    return [{ number, at: Date.parse(time), level: of, message: msg, fields }];
  });
  return { lines, next: recent?.count ?? 0 };
};
