import { buildKey, type KeyResult, parseKey, type SessionKey, sessionKeyProblem } from './session-key.ts';

/** Short and older forms of session keys (A3/35–40, C2). A stored key always begins with `agent:<agentId>:`. */

/** The parts that a short key omits. */
export interface KeyContext {
  readonly agentId: string;
  readonly mainKey: string;
  readonly scope: 'per-sender' | 'global';
  /** The platform the key comes from, for `group:<id>` (A3/36). */
  readonly provider?: string | undefined;
}

/** The part of the configuration that says what keys mean. */
export interface KeyConfig {
  readonly agent: { readonly id: string };
  readonly session: Pick<KeyContext, 'mainKey' | 'scope'>;
}
export const keyContextOf = ({ agent, session: { mainKey, scope } }: KeyConfig): KeyContext => ({
  ...{ agentId: agent.id, mainKey, scope },
});

/** In front of a complete key: exactly this one. An earlier main session needs it once `session.mainKey` has changed (D2). */
export const storedPrefix = 'stored:';

/**
 * The stored form of a key. A key that begins with `agent:` is complete and stays as it is, but `agent:<agentId>:main` is the
 * main session whatever its key is (D2). `main` is the main session, or the global one with `session.scope: global`. `unknown`
 * names no session and is refused (A3/40).
 */
export const canonicalKey = (given: string, { agentId, mainKey, scope, provider }: KeyContext): KeyResult => {
  const isStored = given.startsWith(`${storedPrefix}agent:`);
  const text = isStored ? given.slice(storedPrefix.length) : given;
  const problem = sessionKeyProblem(text);
  if (problem !== null) return { problem: `the session key ${problem}` };
  const parsed = parseKey(text, mainKey);
  if (parsed.kind === 'unknown') return { problem: 'the session key "unknown" names no session; use a real key' };
  if (parsed.agentId !== '') {
    const isMain = !isStored && parsed.kind === 'other' && parsed.id === 'main';
    return isMain ? buildKey({ agentId: parsed.agentId, kind: 'main' }, mainKey) : { key: text as SessionKey };
  }
  if (text.startsWith('agent:'))
    return { problem: `the session key ${JSON.stringify(text)} is incomplete; use agent:<id>:<key>` };
  if (text === 'main' || parsed.kind === 'main') {
    return buildKey({ agentId, kind: scope === 'global' ? 'global' : 'main' }, mainKey);
  }
  const complete = legacyGroup.test(text) ? withChannel(text, provider?.toLowerCase()) : text;
  if (complete === null) {
    return { problem: `the session key ${JSON.stringify(text)} has no channel; use <channel>:group:<id>` };
  }
  const whole = `agent:${agentId}:${complete}`;
  const tooLong = sessionKeyProblem(whole);
  return tooLong === null ? { key: whole as SessionKey } : { problem: `the session key ${JSON.stringify(whole)} ${tooLong}` };
};

const legacyGroup = /^(?:group|channel):./;

/**
 * Rewrites `group:<id>` and `group:<channel>:<id>` as `<channel>:group:<id>`; `null` if the channel is unknown. WhatsApp's group
 * ids reveal theirs.
 */
const withChannel = (text: string, provider: string | undefined): string | null => {
  const [, kind = '', rest = ''] = /^(group|channel):(.+)$/s.exec(text) ?? [];
  if (provider !== undefined) {
    const id = rest.startsWith(`${provider}:`) ? rest.slice(provider.length + 1) : rest;
    return `${provider}:${kind}:${id}`;
  }
  const [, channel, id] = /^([a-z][a-z0-9_-]{0,31}):(.+)$/s.exec(rest) ?? [];
  if (channel !== undefined) return `${channel}:${kind}:${id}`;
  return rest.endsWith('@g.us') ? `whatsapp:${kind}:${rest}` : null;
};
