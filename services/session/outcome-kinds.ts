import type { Outcome } from './session-actor.ts';

/** The host's count that each outcome of a command is one of; `null`: none. */
export const countOf = {
  accepted: 'commits',
  stale: 'fenced',
  uncommitted: 'uncommitted',
  duplicate: 'duplicates',
  refused: 'refused',
  nothing: null,
} as const;

/** True when the session's history shows for ever that the command has been here. */
export const isRecorded = (outcome: Outcome): boolean =>
  outcome.kind === 'accepted' || (outcome.kind === 'duplicate' && outcome.recorded);
