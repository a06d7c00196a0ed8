import type { RefusalCode } from '../../../shared/domain/session/decide/index.ts';
import type { Repeat } from '../../../shared/domain/session/decide/repeat.ts';
import type { CommandAnswer, CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Delivery } from '../../../shared/ports/work-queue.ts';

/** Where a command came from: its place in the command stream, or `null` for the host's own. */
export type Origin = Pick<Delivery<CommandEnvelope>, 'seq' | 'incarnation' | 'storedAt'> | null;

/** What became of a command. After `stale` and `uncommitted` the session's actor is closed: what it believes may be wrong. */
export type Outcome =
  /** `timer`: what the command is acknowledged after; neither its answer nor its turn waits for it. */
  | { readonly kind: 'accepted'; readonly seq: number; readonly rev: number; readonly timer?: Promise<void> | undefined }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'duplicate'; readonly repeat: Repeat }
  | { readonly kind: 'refused'; readonly code: RefusalCode | 'too_large' | 'quarantined' | 'damaged'; readonly message: string }
  | { readonly kind: 'stale' }
  | { readonly kind: 'uncommitted'; readonly cause: string };

/** The host's counter for each kind of outcome; `null`: not counted. */
export const counterOf = {
  accepted: 'commits',
  stale: 'fenced',
  uncommitted: 'uncommitted',
  duplicate: 'duplicates',
  refused: 'refused',
  nothing: null,
} as const;

/** True for a repeat that may be a new message that came too late (D9). */
export const isLate = (outcome: Outcome): boolean => outcome.kind === 'duplicate' && outcome.repeat.by === 'late';

/** True when the session's history will always show that the command was handled. */
export const isRecorded = (outcome: Outcome): boolean =>
  outcome.kind === 'accepted' || (outcome.kind === 'duplicate' && outcome.repeat.by === 'place');

/** The answer to the sender of a command. */
export const answerOf = ({ id: commandId }: CommandEnvelope, outcome: Outcome): CommandAnswer => {
  switch (outcome.kind) {
    case 'accepted':
      return { commandId, outcome: 'accepted', seq: outcome.seq, rev: outcome.rev };
    case 'refused':
      return { commandId, outcome: 'refused', code: outcome.code, message: outcome.message };
    case 'nothing':
      return { commandId, outcome: 'nothing' };
    case 'duplicate': {
      const { firstId } = outcome.repeat;
      return { commandId, outcome: 'duplicate', ...(firstId !== undefined && { firstId }) };
    }
    case 'stale':
    case 'uncommitted':
      return { commandId, outcome: 'refused', code: 'unavailable', message: 'not recorded yet; it will be tried again' };
  }
};
