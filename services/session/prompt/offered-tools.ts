import type { Config } from '../../../shared/domain/config/schema.ts';
import { parseKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { channelOf } from '../../../shared/domain/projections/list-channel.ts';
import type { Asker } from '../../../shared/domain/prompt/conversation-message.ts';
import type { SessionState } from '../../../shared/domain/session/fold/evolve.ts';
import type { Tool } from '../../../shared/ports/tools.ts';
import { isStranger } from '../tools/on-behalf.ts';
import { type AskedCall, isOffered } from '../tools/tool-policy.ts';

/** A session that a policy is asked about. */
export interface PolicySession {
  readonly key: SessionKey;
  readonly state: SessionState;
}

/** A call that this asker has a part in, for the rules that name an agent, a channel or a role. */
export const askedFor = (
  { key, state }: PolicySession,
  config: Config,
  { sender, channel: own }: Asker,
): Pick<AskedCall, 'agentId' | 'channel' | 'sender'> => {
  const { turn, route, origin } = state.machine.context;
  const parsed = parseKey(key, config.session.mainKey);
  const place = turn === null ? route : (turn.deliverTo ?? null);
  const known = own === undefined ? { lastRoute: place, origin } : { lastRoute: { channel: own, to: '' }, origin };
  // Where others were answered, or last wrote from, says nothing of a stranger.
  const channel = channelOf(parsed, own === undefined && isStranger(sender) ? undefined : known);
  return { agentId: parsed.agentId || config.agent.id, channel, sender };
};

/** The tools that the model is offered: those that some call of each of these people may use (ADR 22). */
export const offeredTools = (
  session: PolicySession,
  config: Config,
  tools: readonly Tool[],
  askers: readonly Asker[],
): readonly Tool[] => {
  const asked = askers.map((asker) => askedFor(session, config, asker));
  return tools.filter((tool) => asked.every((each) => isOffered(config.tools.rules, { tool, ...each })));
};
