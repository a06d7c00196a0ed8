import pc from 'picocolors';
import type { World } from '../terminal.ts';
import type { LogEntry } from './manifest.ts';

/** What a backup or a restore found, on one line. */
export const verdictOn = ({ commits, events, sessions, breaks }: LogEntry): string => {
  const chain =
    breaks.length === 0 ? 'every chain is whole' : `${breaks.length} breaks, which were in the log when it was backed up`;
  return `${commits} commits (${events} events) of ${sessions} sessions; ${chain}`;
};

export const showBreaks = ({ terminal }: World, { breaks }: LogEntry): void => {
  for (const each of breaks) terminal.note(pc.yellow(each));
};
