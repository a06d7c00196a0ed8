import { settingsAfter } from '../context.ts';
import type { SessionState } from '../fold/evolve.ts';
import { reportText } from '../report/report-text.ts';
import { accept, type Decision, type Given, refuse, type SessionView } from './decision.ts';
import { noticeEvent } from './generation.ts';
import { isNew, settingsEvents } from './opening.ts';

/** Notices and settings (A9/94–97, A11/123–124). */

export const patchSession = ({ data }: Given<'patch_session'>, view: SessionView): Decision => {
  // A chat command may come before the first message; a program must name an existing session.
  if (isNew(view) && data.notice === undefined) {
    return refuse('session_unknown', 'there is no session yet; send a message first');
  }
  const settings = settingsAfter(view.context.settings, data.settings);
  return accept(...settingsEvents(view, data.settings), ...(data.notice ? [noticeEvent(settings, data.notice)] : []));
};

export const postNotice = ({ data: { notice, toRoute } }: Given<'post_notice'>, { context }: SessionView): Decision =>
  accept(noticeEvent(context.settings, { ...notice, ...(toRoute && context.route && { deliverTo: context.route }) }));

export const report = ({ at, data: { notice, facts } }: Given<'report'>, state: SessionState): Decision =>
  accept(noticeEvent(state.machine.context.settings, { ...notice, text: reportText(facts, state, at) }));
