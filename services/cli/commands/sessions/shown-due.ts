import { type ErasableSession, retentionSettings } from '../../../../shared/domain/reset/retention.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { oneLine, table } from '../../terminal.ts';
import { ago } from '../../time.ts';

/** What is shown of a session that retention has due. */
export interface ShownDue {
  readonly shownKey: string;
  readonly rule: ErasableSession['rule'];
  readonly interactedAt: number;
  readonly messageCount: number;
  readonly logBytes?: number | undefined;
}

const units = ['bytes', 'kB', 'MB', 'GB'] as const;

/** A number of bytes for people; `?` if it is not known. */
export const sizeText = (bytes: number | undefined): string => {
  if (bytes === undefined) return '?';
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
};

/** One line for each, below a head. */
export const linesOfDue = (due: readonly ShownDue[], now: number): string[] =>
  table(
    ['KEY', 'MESSAGES', 'UNUSED', 'IN THE LOG', 'DUE BY'],
    due.map(({ shownKey, messageCount, interactedAt, logBytes, rule }) => [
      oneLine(shownKey, limits.sessionKeyBytes),
      String(messageCount),
      interactedAt === 0 ? '' : ago(interactedAt, now),
      sizeText(logBytes),
      retentionSettings[rule],
    ]),
  );
