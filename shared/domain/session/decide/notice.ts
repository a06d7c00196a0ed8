import { settingsAfter } from '../context.ts';
import type { SessionState } from '../evolve.ts';
import { reportText } from '../report.ts';
import { accept, type Decision, type Given, refuse, type SessionView } from './decision.ts';
import { isNew, setting, telling } from './generation.ts';

/** Notices and settings (A9/94–97, A11/123–124). */

export const patchSession = ({ data }: Given<'patch_session'>, view: SessionView): Decision => {
  // A chat command may come before the first message; a program must name an existing session.
  if (isNew(view) && data.notice === undefined) {
    return refuse('session_unknown', 'there is no session yet; send a message first');
  }
  const settings = settingsAfter(view.context.settings, data.settings);
  return accept(...setting(view, data.settings), ...(data.notice ? [telling(settings, data.notice)] : []));
};

export const postNotice = ({ data: { notice, toRoute } }: Given<'post_notice'>, { context }: SessionView): Decision =>
  accept(telling(context.settings, { ...notice, ...(toRoute && context.route && { deliverTo: context.route }) }));

export const report = ({ at, data: { notice, facts } }: Given<'report'>, state: SessionState): Decision =>
  accept(telling(state.machine.context.settings, { ...notice, text: reportText(facts, state, at) }));
