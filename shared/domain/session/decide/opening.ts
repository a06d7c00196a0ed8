import { canonical } from '../../../kit/comparison.ts';
import { staleness } from '../../values/expiry.ts';
import type { SettingsChange } from '../../values/settings.ts';
import type { Origin, Sender, SessionSource } from '../../values/types.ts';
import type { CommandOf } from '../commands.ts';
import type { SessionEvent } from '../events.ts';
import type { SessionView } from './decision.ts';
import { freshId, renewalEvents } from './generation.ts';

/** How a session is opened, reopened and prepared for a message (A4/43–58, A5/64–66, C8). */

const defaultSource: SessionSource = { kind: 'api', interactive: false };

type Occasion = Pick<CommandOf<'open_session'>, 'sessionId' | 'source' | 'origin' | 'expiry'>;

/** True before the first message and after a deletion. */
export const isNew = ({ context }: SessionView): boolean => context.generation === 0 || context.deleted;

/**
 * Prepares the session for a message or an opening at `at`: opens, reopens or renews it, and updates its origin. A session with a
 * turn is not renewed; see `renewal`.
 */
export const readinessEvents = (view: SessionView, occasion: Occasion, at: number): SessionEvent[] => [
  ...beginning(view, occasion, at),
  ...originEvents(view, occasion.origin),
];

const beginning = (view: SessionView, { sessionId, source, expiry }: Occasion, at: number): SessionEvent[] => {
  if (isNew(view)) {
    const generation = view.context.generation + 1;
    return [{ type: 'session_opened', v: 1, sessionId: freshId(sessionId, view), generation, source: source ?? defaultSource }];
  }
  if (view.turn !== null) return [];
  const cause = expiry ? staleness(expiry, view.position.interactedAt, at) : null;
  if (cause !== null) return renewalEvents(view, sessionId, cause);
  return view.status === 'inactive' ? [{ type: 'session_reopened', v: 1 }] : [];
};

/** Records a participant with the current identity (A5/66). */
export const participantEvents = (by: Sender | undefined): SessionEvent[] =>
  by ? [{ type: 'participant_resolved', v: 1, participant: by }] : [];

/**
 * Merges new facts about the origin into the known ones (A5/65, A13). Facts from another channel are replaced, since its ids mean
 * nothing here.
 */
export const originEvents = ({ context: { origin: known } }: SessionView, given: Origin = {}): SessionEvent[] => {
  const isNews = Object.entries(given).some(([name, value]) => value !== known[name as keyof Origin]);
  const isElsewhere = known.provider !== undefined && given.provider !== undefined && known.provider !== given.provider;
  return isNews ? [{ type: 'origin_changed', v: 1, origin: isElsewhere ? given : { ...known, ...given } }] : [];
};

/** A change of settings, unless it changes nothing. */
export const settingsEvents = ({ context }: SessionView, changes: SettingsChange | undefined): SessionEvent[] => {
  const isNews = Object.entries(changes ?? {}).some(
    ([name, value]) => canonical(value ?? undefined) !== canonical(context.settings[name as keyof SettingsChange]),
  );
  return isNews && changes ? [{ type: 'settings_changed', v: 1, changes }] : [];
};
