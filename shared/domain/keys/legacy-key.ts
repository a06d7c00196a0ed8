import { buildKey, type KeyResult, parseKey, type SessionKey, sessionKeyProblem } from './session-key.ts';

/** Short and older forms of session keys: A3/35–40, C2. What is stored always begins with `agent:<agentId>:`. */

/** What a short key leaves out. */
export interface KeyContext {
  readonly agentId: string;
  readonly mainKey: string;
  readonly scope: 'per-sender' | 'global';
  /** The platform the key comes from, for `group:<id>` (A3/36). */
  readonly provider?: string | undefined;
}

/**
 * The stored form of a key. One that begins with `agent:` is complete and stays as it is. `main` is the main session, which is the global
 * one under `session.scope: global`; `unknown` stands for nothing and is refused (A3/40).
 */
export const canonicalKey = (text: string, { agentId, mainKey, scope, provider }: KeyContext): KeyResult => {
  const problem = sessionKeyProblem(text);
  if (problem !== null) return { problem: `the session key ${problem}` };
  const parsed = parseKey(text, mainKey);
  if (parsed.kind === 'unknown') return { problem: 'the session key "unknown" stands for no session; name one' };
  if (parsed.agentId !== '') return { key: text as SessionKey };
  if (text.startsWith('agent:'))
    return { problem: `the session key ${JSON.stringify(text)} is incomplete; use agent:<id>:<key>` };
  if (text === 'main' || parsed.kind === 'main') {
    return buildKey({ agentId, kind: scope === 'global' ? 'global' : 'main' }, mainKey);
  }
  const complete = legacyGroup.test(text) ? withChannel(text, provider?.toLowerCase()) : text;
  if (complete === null) {
    return { problem: `the session key ${JSON.stringify(text)} leaves the channel open; use <channel>:group:<id>` };
  }
  const whole = `agent:${agentId}:${complete}`;
  const tooLong = sessionKeyProblem(whole);
  return tooLong === null ? { key: whole as SessionKey } : { problem: `the session key ${JSON.stringify(whole)} ${tooLong}` };
};

const legacyGroup = /^(?:group|channel):./;

/** `group:<id>` and `group:<channel>:<id>` as `<channel>:group:<id>`; `null` when nothing says which channel. WhatsApp's group ids do. */
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

/** A key as callers see it: the agent's main session and its global one are `main` (A3/40, C2). Another agent's keeps its name. */
export const shownKey = (key: SessionKey, mainKey: string, agentId: string): string => {
  const { kind, agentId: of } = parseKey(key, mainKey);
  return of === agentId && (kind === 'main' || kind === 'global') ? 'main' : key;
};
