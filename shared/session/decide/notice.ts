import type { SessionState } from '../evolve.ts';
import { reportText } from '../report.ts';
import { accept, type Decision, type Given, refuse, type SessionView } from './decision.ts';
import { isNew, setting } from './generation.ts';

/** What Natter itself says, and settings: A9/94–97, A11/123–124. */

export const patchSession = ({ data }: Given<'patch_session'>, view: SessionView): Decision => {
  if (isNew(view)) return refuse('session_unknown', 'there is no session yet; send a message first');
  const told = data.notice ? [{ type: 'notice', v: 1, notice: data.notice } as const] : [];
  return accept(...setting(view, data.settings), ...told);
};

export const postNotice = ({ data: { notice } }: Given<'post_notice'>): Decision => accept({ type: 'notice', v: 1, notice });

export const report = ({ data: { notice, facts } }: Given<'report'>, state: SessionState): Decision =>
  accept({ type: 'notice', v: 1, notice: { ...notice, text: reportText(facts, state) } });
