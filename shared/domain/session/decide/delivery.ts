import { accept, type Decision, type Given, nothing, refuse, type SessionView } from './decision.ts';
import { isNew } from './opening.ts';

/** What became of outgoing messages (D12). Neither event uses the session: it stays as fresh, and as inactive, as it was. */

/** A session that is over is not told: nobody is left to know it. */
export const reportDelivery = ({ data }: Given<'report_delivery'>, view: SessionView): Decision => {
  if (isNew(view)) return nothing;
  const { type: _, ...report } = data;
  const isPast = Number(report.outboundId.split('.')[0]) < view.position.startedSeq;
  return accept({ type: 'delivery_reported', v: 1, ...report, ...(isPast && { past: true }) });
};

/** The commit is where delivery takes the message from, so it goes out behind everything that was said before. */
export const repeatDelivery = ({ data }: Given<'repeat_delivery'>, view: SessionView): Decision => {
  if (isNew(view)) return refuse('session_unknown', 'the session was deleted since; nothing of it is sent any more');
  const { type: _, by, ...repeat } = data;
  const { sendPolicy } = view.context.settings;
  return accept({ type: 'delivery_repeated', v: 1, ...repeat, by: by.principal ?? by.id, ...(sendPolicy && { sendPolicy }) });
};
