import { z } from 'zod';
import { clientRequest } from './client-request.ts';
import { timestamp, turnRef } from './types.ts';

const id = z.string();

/** Calls of tools that the program runs which sent the message: the turn waits for their results (ADR 26). */
export const clientEvents = [
  /** These calls are the program's to run. Without their results the turn ends at `expiresAt`, or with the program's next message. */
  z.object({
    type: z.literal('client_results_awaited'),
    v: z.literal(1),
    turn: turnRef,
    calls: z.array(id).min(1),
    expiresAt: timestamp,
  }),
  /** The results are there, and follow as `tool_result`. The run `runId` ends with the turn. `step`: its next model step. */
  z.object({
    type: z.literal('client_results_received'),
    v: z.literal(1),
    turn: turnRef,
    runId: id,
    by: id,
    step: z.int().min(1),
    /** Instead of what the program asked for before. */
    client: clientRequest.optional(),
  }),
] as const;
