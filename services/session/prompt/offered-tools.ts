import type { Config } from '../../../shared/domain/config/schema.ts';
import { parseKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { channelOf } from '../../../shared/domain/projections/list-channel.ts';
import type { SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';
import type { Tool } from '../../../shared/ports/tools.ts';
import { type AskedCall, isOffered } from '../tools/tool-policy.ts';

/** A session that a policy is asked about. */
export interface PolicySession {
  readonly key: SessionKey;
  readonly state: SessionState;
}

/** Where a call would be made, for the rules that name an agent or a channel. */
export const placeOf = ({ key, state }: PolicySession, config: Config): Pick<AskedCall, 'agentId' | 'channel'> => {
  const { turn, route, origin } = state.machine.context;
  const parsed = parseKey(key, config.session.mainKey);
  const channel = channelOf(parsed, { lastRoute: turn?.deliverTo ?? route, origin });
  return { agentId: parsed.agentId || config.agent.id, channel };
};

/** The tools that the model is offered: those that some call of each of these senders may use (ADR 22). */
export const offeredTools = (
  session: PolicySession,
  config: Config,
  tools: readonly Tool[],
  senders: readonly Sender[],
): readonly Tool[] => {
  const place = placeOf(session, config);
  return tools.filter((tool) => senders.every((sender) => isOffered(config.tools.rules, { tool, ...place, sender })));
};
