import type { SessionKey } from '../routing/session-key.ts';

export interface ParsedKey {
  readonly kind: string;
  readonly channel?: string;
  readonly threadId?: string;
}
export const bareKey = (key: SessionKey): string => key.replace(/^agent:[^:]*:/, '');
export const parseKey = (key: SessionKey): ParsedKey => {
  const [channel = '', kind = ''] = bareKey(key).split(':');
  if (kind !== 'group' && kind !== 'channel') return { kind: 'main' };
  const threadId = /:topic:(.+)$/.exec(key)?.[1];
  return { kind, channel, ...(threadId !== undefined && { threadId }) };
};
export const chatTypeOf = ({ kind, threadId }: ParsedKey): 'direct' | 'group' | 'channel' | 'thread' =>
  threadId !== undefined ? 'thread' : kind === 'group' || kind === 'channel' ? kind : 'direct';
