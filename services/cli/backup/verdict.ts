import pc from 'picocolors';
import { counted } from '../../../shared/kit/text/counted.ts';
import type { World } from '../terminal.ts';
import type { LogEntry } from './manifest.ts';

/** What a backup or a restore found, on one line. */
export const verdictOn = ({ commits, events, sessions, breaks }: LogEntry): string => {
  const chain =
    breaks.length === 0 ? 'every chain is whole' : `${counted(breaks.length, 'break')} that the log had when it was backed up`;
  return `${counted(commits, 'commit')} (${counted(events, 'event')}) of ${counted(sessions, 'session')}; ${chain}`;
};

export const showBreaks = ({ terminal }: World, { breaks }: LogEntry): void => {
  for (const each of breaks) terminal.note(pc.yellow(each));
};
