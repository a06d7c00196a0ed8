import { z } from 'zod';

/** What calls about pairing answer. */
const channelSender = { channel: z.string(), senderId: z.string(), name: z.string().optional() };
export const deniedOrRevoked = z.object(channelSender);
export const approvedSender = z
  .object({ ...channelSender, pairedAt: z.number(), by: z.string().describe('the actor who approved') })
  .meta({ id: 'PairedSender', description: 'A sender whom the owner lets write direct messages.' });
const request = z
  .object({ ...channelSender, code: z.string(), requestedAt: z.number(), expiresAt: z.number() })
  .meta({ id: 'PairingRequest', description: 'A stranger who waits for the owner.' });
export const pairingList = z.object({ requests: z.array(request), paired: z.array(approvedSender) });
