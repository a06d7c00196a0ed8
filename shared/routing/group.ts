import type { InboundEnvelope } from '../wire/envelope.ts';

/** Who may make the agent speak, and when: A6/72–76. The rules are the same for every channel. */

/** What becomes of a message: `post` asks for a turn, `append` only remembers it. */
export interface GroupRuling {
  readonly verdict: 'post' | 'append';
  /** The text as the session stores it. */
  readonly text: string;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** True when one of the agent's names stands in the text as a word of its own, whatever its case. */
export const namesAgent = (text: string, names: readonly string[]): boolean =>
  names.some((name) => name !== '' && new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(name)}(?![\\p{L}\\p{N}_])`, 'iu').test(text));

/** Stands before what the owner says to others, so that the model can choose whether to reply (A6/76, 77). */
export const ownerAside =
  '[The owner wrote this to the group and not to you. Answer only if it helps; otherwise answer <NO_REPLY>.]\n';

/** The ruling on a message of a group or channel. Direct messages always ask for a turn. */
export const ruleOn = (
  { conversation, mentioned, directed, text }: InboundEnvelope,
  agent: { readonly isOwner: boolean; readonly names: readonly string[] },
): GroupRuling => {
  if (conversation.kind === 'direct') return { verdict: 'post', text };
  if (mentioned || directed || namesAgent(text, agent.names)) return { verdict: 'post', text };
  return agent.isOwner ? { verdict: 'post', text: ownerAside + text } : { verdict: 'append', text };
};
