import { linkTo } from '../base/route.ts';

/** A link to the chat of a session of which only the key is at hand. */
export const SessionLink = ({ sessionKey }: { readonly sessionKey: string }) => (
  <a href={linkTo(['sessions', sessionKey, 'chat'])}>{sessionKey.replace(/^agent:main:/, '')}</a>
);
