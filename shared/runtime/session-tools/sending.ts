import type { Config } from '../../domain/config/schema.ts';
import type { SessionKey } from '../../domain/keys/session-key.ts';
import type { IndexRow } from '../../domain/projections/index-row.ts';
import { listFactsOf } from '../../domain/projections/session-row.ts';
import { sendDecision } from '../../domain/send-policy/send-policy.ts';
import { NatterError } from '../../kit/errors.ts';

/** Throws `send_denied` when the send policy would suppress the answer: the model is not called then (A9/98). */
export const refuseWhenDenied = ({ session }: Pick<Config, 'session'>, key: SessionKey, row: IndexRow | null): void => {
  const { action, rule } = sendDecision(session.sendPolicy, {
    key,
    ...(row && { channel: listFactsOf(row, session.mainKey).channel, override: row.settings.sendPolicy }),
  });
  if (action === 'deny') throw new NatterError('send_denied', `nothing may be sent in this session: ${rule} denies it`);
};
