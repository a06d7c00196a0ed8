import { linkTo } from '../base/route.ts';
import { nameOfKey } from './known-names.ts';

/** A link to a session of which only the key is at hand: to its chat, or to the moment `at`, a sequence of the log. */
export const SessionLink = ({ sessionKey, at }: { readonly sessionKey: string; readonly at?: string | undefined }) => (
  <a href={linkTo(['sessions', sessionKey, at === undefined ? 'chat' : 'time'], { at })} title={sessionKey}>
    {nameOfKey(sessionKey)}
  </a>
);
