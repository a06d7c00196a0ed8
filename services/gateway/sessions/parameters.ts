import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { ControlResult } from './control.ts';

/** What the operations of a session have in common. */

/** A session as a method names it: by its key, full or short. */
export const sessionName = z.string().min(1, 'is empty; use for example "main"').max(1_024);
/** Its key as it is stored. Throws `NatterError('invalid')`. */
export const keyIn = (name: string, { config }: GatewayContext): SessionKey => keyFrom(config, name, 'key');

export const emptyBody = z.strictObject({});
export const reading = ['not_found', 'quarantined', 'damaged'] as const;
export const writing = [...reading, 'forbidden', 'precondition_failed', 'refused'] as const;
export const conditional = ['Idempotency-Key', 'If-Match'] as const;

/** Over HTTP the address says which session it is. */
export const withoutKey = ({ key: _, ...result }: ControlResult) => result;
