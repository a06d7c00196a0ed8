import type { Checker, History } from '../history.ts';
import { livesOf } from '../lives.ts';
import { damageIsReadOnly } from './f13-damage.ts';
import { everyCommandEnds } from './i1-terminal.ts';
import { nothingHappensTwice } from './i2-once.ts';
import { revisionsAreContiguous } from './i3-contiguous.ts';
import { foldIsLiveIsSnapshot } from './i4-fold.ts';
import { nothingGoesBack } from './i5-order.ts';
import { callsHaveIntents } from './i6-calls.ts';
import { effectsHaveIntents } from './i6-intent.ts';
import { onlyWhatWasAllowed } from './i7-approvals.ts';
import { everythingComesToAnEnd } from './i10-liveness.ts';
import { everythingIsBounded } from './i11-bounds.ts';
import { nobodyBelievesAnOlderLog } from './i13-rollback.ts';

/** The checkers by the number of their invariant or failure mode. */
export const checkers: Readonly<Record<string, Checker>> = {
  I1: everyCommandEnds,
  I2: nothingHappensTwice,
  I3: revisionsAreContiguous,
  I4: foldIsLiveIsSnapshot,
  I5: nothingGoesBack,
  I6: (history) => [...effectsHaveIntents(history), ...callsHaveIntents(history)],
  I7: onlyWhatWasAllowed,
  I10: everythingComesToAnEnd,
  I11: everythingIsBounded,
  I13: nobodyBelievesAnOlderLog,
  F13: damageIsReadOnly,
};

/** Everything that is wrong with a history, each line with the number of the invariant. */
export const checkAll = (history: History): string[] =>
  livesOf(history).flatMap((life) =>
    Object.entries(checkers).flatMap(([name, check]) => check(life).map((finding) => `${name} ${finding}`)),
  );
