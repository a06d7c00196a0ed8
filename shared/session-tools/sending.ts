import type { Config } from '../config/schema.ts';
import { NatterError } from '../kit/errors.ts';
import { sendDecision } from '../policy/send-policy.ts';
import type { SessionKey } from '../routing/session-key.ts';
import type { IndexRow } from '../session/summary.ts';
import { listFactsOf } from './row.ts';

/** Throws `NatterError('send_denied')` where the send policy would not let the answer out: nothing is asked of the model then (A9/98). */
export const refuseWhenDenied = ({ session }: Pick<Config, 'session'>, key: SessionKey, row: IndexRow | null): void => {
  const { action, rule } = sendDecision(session.sendPolicy, {
    key,
    ...(row && { channel: listFactsOf(row, session.mainKey).channel, override: row.settings.sendPolicy }),
  });
  if (action === 'deny') throw new NatterError('send_denied', `nothing may be sent in this session: ${rule} denies it`);
};
