import { focus, trySoon } from './focus.ts';
import { go } from './route.ts';

const waiting = '.approval:not(.approval-over)';

/** The approval that the focus is on or in, if it waits for an answer. */
export const approvalInFocus = (): Element | null => document.activeElement?.closest(waiting) ?? null;

/** Puts the focus on the first approval of the view that waits, and says whether there is one. */
export const focusWaiting = (): boolean => focus(waiting);

/** Opens Approvals with the focus on the first that waits, as soon as it is read; if none does, on the view. */
export const openApprovals = (): void => {
  go(['approvals']);
  trySoon(() => document.querySelector('.approvals:not(:has(.loading))') !== null && (focusWaiting() || focus('#main')));
};
