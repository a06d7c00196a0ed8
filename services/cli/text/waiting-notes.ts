import pc from 'picocolors';
import type { FollowOptions } from '../../../shared/client/main.ts';
import { printable } from '../../../shared/kit/scrub.ts';

export type WaitingNotes = Required<Pick<FollowOptions, 'onWaiting' | 'onOpen'>>;

/** Says once that a stream waits for the gateway, however often it tries, and once that the gateway is back. */
export const waitingNotes = (say: (line: string) => void): WaitingNotes => {
  let isWaiting = false;
  return {
    onWaiting: (reason) => {
      if (!isWaiting) say(pc.yellow(printable(`waiting for the gateway: ${reason}`)));
      isWaiting = true;
    },
    onOpen: () => {
      if (isWaiting) say(pc.green('the gateway is back'));
      isWaiting = false;
    },
  };
};
