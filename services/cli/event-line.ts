import pc from 'picocolors';
import type { NatterEvent } from '../../shared/client/main.ts';
import { summaryOf } from '../../shared/domain/projections/event-summary.ts';
import { limits } from '../../shared/kit/limits.ts';
import { oneLine } from './terminal.ts';
import { timeText } from './time.ts';

/** An event on one line; its time in `zone`. */
export const eventLine = (event: NatterEvent, zone: string): string =>
  [
    pc.dim(event.id.padStart(8)),
    pc.dim(timeText(event.at, zone)),
    pc.cyan(oneLine(event.key, limits.sessionKeyBytes)),
    pc.bold(event.type),
    summaryOf(event, oneLine),
  ]
    .join('  ')
    .trimEnd();
