import type { EventDelivery } from '../../../shared/client/main.ts';

/** What became of an outgoing message, in words. */

/** Whether nothing more is done about it. */
export const isOver = ({ state }: Pick<EventDelivery, 'state'>): boolean => state !== 'prepared' && state !== 'sending';

const tries = ['', 'first try', 'second try', 'third try', 'fourth try', 'fifth try'];
const tryWords = (attempt: number): string => tries[attempt] ?? `try ${attempt}`;

/** How often something was tried. */
export const triedWords = (attempts: number): string => (attempts === 1 ? 'Tried once' : `Tried ${attempts} times`);

const failures: Readonly<Record<string, string>> = {
  transient: 'it could not take the message',
  rate_limit: 'it asked to wait',
  auth: 'it does not know the account that sends',
  permission: 'the account that sends has no right to',
  not_found: 'there is no such receiver',
  gone: 'the receiver is gone',
  invalid: 'it does not take the message in this form',
};
const because = ({ detail, failure = '' }: EventDelivery): string => {
  const why = detail ?? failures[failure];
  return why === undefined ? '' : `: ${why}`;
};

/** `said` is a time in words. */
export const deliveryWords = (delivery: EventDelivery, said: (at: number) => string): string => {
  const { state, attempt, at, notBefore, parts } = delivery;
  const to = delivery.target.channel === 'session' ? 'another session' : delivery.target.channel;
  const tried = tryWords(attempt);
  const when = at === undefined ? '' : ` at ${said(at)}`;
  switch (state) {
    case 'prepared':
      if (attempt < 2) return `waits to be sent to ${to}`;
      return `waits for ${to}, ${tried}${notBefore === undefined ? '' : ` at ${said(notBefore)}`}${because(delivery)}`;
    case 'sending':
      return `is being sent to ${to}, ${tried}`;
    case 'delivered':
      return `delivered to ${to}${when}, ${parts ? `${parts.of} parts` : tried}`;
    case 'partial':
      return `partly delivered to ${to}, ${parts?.sent ?? 0} of ${parts?.of ?? 0} parts${because(delivery)}`;
    case 'unknown':
      return `may have reached ${to}${because(delivery)}`;
    case 'suppressed':
      return `not sent to ${to}, on purpose${because(delivery)}`;
    case 'failed':
      return `not delivered to ${to}${because(delivery)}`;
  }
};
