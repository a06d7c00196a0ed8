import type { EventOf } from '../session/events.ts';
import { ownName } from './conversation-message.ts';
import type { ModelMessage } from './model-request.ts';

/** What the model is told about an answer that may not have arrived (D12), in one line. */
export const deliveryReportMessage = ({ outcome, parts }: EventOf<'delivery_reported'>): ModelMessage => {
  const text = {
    unknown: 'It is not known whether your last answer has reached the person',
    failed: 'Your last answer has not reached the person: it could not be sent',
    partial: `Your last answer has reached the person in part only${parts ? `: ${parts.sent} of ${parts.of} parts` : ''}`,
  }[outcome];
  return { role: 'user', name: ownName, text: `[${text}.]` };
};
