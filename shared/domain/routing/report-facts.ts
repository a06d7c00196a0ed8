import type { Config } from '../config/schema.ts';
import { parseKey, resetTypeOf } from '../keys/session-key.ts';
import { dayAround, localTime, policyFor } from '../reset/reset.ts';
import type { ReportFacts } from '../session/report-facts.ts';
import { actsForOwner } from './acts-for-owner.ts';
import type { ChatCommandContext } from './chat-answer.ts';
import { dangers } from './dm-safety.ts';
import { queueRuleOf } from './queue-rule.ts';

/** The facts of a report that come from the configuration (A11/123–124). */
export const factsOf = (
  kind: ReportFacts['kind'],
  {
    key,
    config,
    at,
    channel,
    occasion: { expiry, origin },
    sender,
  }: Pick<ChatCommandContext, 'key' | 'config' | 'at' | 'channel' | 'occasion' | 'sender'>,
): ReportFacts => {
  const { agent, session } = config;
  const parsed = parseKey(key, session.mainKey);
  const from = channel ?? parsed.channel;
  const { atHour } = policyFor(session, { type: resetTypeOf(parsed, origin?.threadId), channel: from }).policy;
  const zone = session.timeZone ?? 'UTC';
  return {
    kind,
    model: agent.model,
    parts: [{ name: 'system prompt', characters: agent.systemPrompt.length }],
    ...windowsOf(config),
    queueMode: queueRuleOf(session, from).mode,
    ...(atHour !== undefined && { nextDaily: localTime(dayAround(at, atHour, zone).until, zone) }),
    ...(expiry && { expiry }),
    // What is wrong with an installation is a hint for whoever wants to misuse it.
    warnings: actsForOwner(sender)
      ? dangers(config)
          .slice(0, 20)
          .map((danger) => danger.slice(0, 500))
      : [],
  };
};

/** Context windows in tokens. A model with fallbacks gets the smallest window among them. */
const windowsOf = ({ agent, model, context: { windowTokens: usual } }: Config) => {
  const known = new Map<string, number>(
    Object.entries(model.providers).flatMap(([provider, { windows }]) =>
      Object.entries(windows).map(([name, tokens]) => [`${provider}/${name}`, tokens] as const),
    ),
  );
  const standIns = agent.fallbacks.map((name) => known.get(name) ?? usual);
  const windows = Array.from(known, ([name, tokens]) => [name, Math.min(tokens, ...standIns)] as const).slice(0, 100);
  return {
    windowTokens: Math.min(known.get(agent.model) ?? usual, ...standIns),
    ...(windows.length > 0 && { windows: Object.fromEntries(windows) }),
  };
};
