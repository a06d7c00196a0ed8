import { type Config, configSchema } from '../../../../shared/domain/config/schema.ts';
import type { InboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { createRoute, type PairingResult, type Routed } from '../../../../shared/domain/routing/route.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';

/** Envelopes and settings as the tables of the routing tests write them: only what differs from a message to a Telegram group. */
export type Change = Record<string, unknown>;
export const receivedAt = Date.UTC(2026, 2, 4, 5);
export const config = (change: Change = {}): Config => configSchema.parse(change);
const envelope = (change: Change = {}): InboundEnvelope =>
  inboundEnvelope.parse({
    id: 'telegram:1',
    channel: 'telegram',
    conversation: { id: '-100123', kind: 'group' },
    sender: { id: '42' },
    text: 'hello',
    ...change,
  });
export const outcome = (change: Change = {}, settings: Change = {}, pairing?: PairingResult): Routed =>
  createRoute(config(settings))(envelope(change), receivedAt, pairing);
export const routed = (change: Change = {}, settings: Change = {}): CommandEnvelope => {
  const result = outcome(change, settings);
  if ('command' in result) return result.command;
  throw new Error(JSON.stringify(result));
};
/** The key, or why there is none. */
export const keyOf = (change: Change, settings: Change = {}): string => {
  const result = outcome(change, settings);
  if ('command' in result) return result.command.key;
  if ('pairing' in result) return `pairing: ${result.pairing.kind}`;
  return 'dropped' in result ? `dropped: ${result.dropped}` : `unroutable: ${result.unroutable}`;
};
export const messageOf = (change: Change, settings: Change = {}) => {
  const { data } = routed(change, settings);
  if (data.type !== 'post_message' && data.type !== 'append_message') throw new Error(data.type);
  return { type: data.type, ...data.message };
};
/** What a command brings besides its message. */
export const occasionIn = (change: Change, settings: Change = {}) => {
  const { data } = routed(change, settings);
  if (!('sessionId' in data) || data.type === 'fork' || data.type === 'record_introspection') throw new Error(data.type);
  return data;
};
