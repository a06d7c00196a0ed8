import { z } from 'zod';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { queueRule } from '../../../shared/domain/values/queue-rule.ts';
import { deliveryTarget, message, sender } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { checkSaid, speakerOf } from '../access/speaker.ts';
import { incomingAttachments } from '../attachments/incoming-attachment.ts';
import { checkFiles, withKeptFiles } from '../attachments/keep-files.ts';
import { type Caller, commandIdOf, envelopeOf, occasionFor } from '../commands/envelope.ts';
import { scheduleCommand } from '../commands/publish.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { timeField } from '../http/input.ts';
import type { Condition } from '../operation/etag.ts';
import type { Call } from '../operation/operation.ts';
import { pairByText } from '../pairing/pairing.ts';
import { commandFromText } from './command-from-text.ts';
import { refuseWhenFull, submitCommand } from './submit-message.ts';

export const postBody = z.strictObject({
  /** May be empty where there are files. */
  text: z.string().max(limits.commandBytes),
  messageId: message.shape.messageId.optional(),
  sender: sender.pick({ id: true, name: true }).strict().optional(),
  deliverTo: deliveryTarget.strict().optional(),
  /** `append`: added without a turn (A5/69). */
  mode: z.enum(['post', 'append']).default('post'),
  /** What happens if a turn is running (B6). Default: as configured. */
  queue: queueRule.shape.mode.optional(),
  /** `false`: a text such as `/new` goes to the model as it is (A11). */
  commands: z.boolean().default(true),
  sendAt: timeField.optional(),
  attachments: incomingAttachments.optional(),
});
export interface MessagePost {
  readonly key: SessionKey;
  readonly body: z.infer<typeof postBody>;
  readonly waitMs: number;
  readonly idempotencyKey: string | undefined;
  readonly condition: Condition;
}

const commandOf = async (
  context: GatewayContext,
  caller: Caller,
  { key, body, idempotencyKey }: MessagePost,
  now: number,
): Promise<CommandEnvelope> => {
  const { access, config } = context;
  const type = body.mode === 'append' ? 'append_message' : 'post_message';
  const id = commandIdOf(caller, key, type, idempotencyKey);
  const { principal } = caller;
  const from = speakerOf(principal, body.sender, access.identities, caller.actor);
  checkSaid(principal, body);
  if (type === 'append_message' && body.queue !== undefined) {
    throw new NatterError('invalid', 'queue: is for a message that asks for a turn; leave it out', { field: 'queue' });
  }
  const message = {
    messageId: body.messageId ?? id,
    text: body.text,
    sender: from,
    ...(body.deliverTo && { deliverTo: body.deliverTo }),
  };
  const at = body.sendAt ?? now;
  const data: SessionCommand =
    type === 'append_message'
      ? { type, ...occasionFor(config, key, at), message }
      : await commandFromText(config, {
          ...{ key, at, message, principal, literal: !body.commands, mode: body.queue },
          isShared: access.isShared(context.sessions.peek(key), key),
          mayChange: () => access.mayControl(principal, key, from),
          pair: (code) => pairByText(context, caller, { code }),
        });
  return envelopeOf(caller, { id, key, at, data });
};

/** The generation that a scheduled message belongs to, or that it will start. */
const generationAt = async ({ sessions }: GatewayContext, key: SessionKey): Promise<number> => {
  const row = await sessions.row(key);
  if (row === null) return 1;
  return row.deleted || row.generation === 0 ? row.generation + 1 : row.generation;
};

const schedule = async (context: GatewayContext, envelope: CommandEnvelope) => {
  const { ports, runs } = context;
  if (envelope.at <= ports.clock.now()) {
    const given = new Date(envelope.at).toISOString();
    throw new NatterError('invalid', `sendAt: ${given} is in the past; give a later time`, { field: 'sendAt' });
  }
  const run = { runId: envelope.id, status: 'scheduled' } as const;
  const ifGeneration = await generationAt(context, envelope.key);
  await scheduleCommand(ports, run.runId, { ...envelope, ifGeneration });
  runs.note(envelope.key, run);
  return { ...run, sendAt: envelope.at };
};

/** Submits a message with all that HTTP callers can say of it, and waits for its run as long as they want (A5/69, A10/117, B6). */
export const postMessage = async ({ context, caller, signal }: Call, post: MessagePost) => {
  const { access, ports } = context;
  const { key, body, waitMs, condition } = post;
  const { attachments = [] } = body;
  if (body.text === '' && attachments.length === 0)
    throw new NatterError('invalid', 'text: is empty; send some text, or files', { field: 'text' });
  checkFiles(context.config, attachments, 'attachments');
  if (Buffer.byteLength(body.text) >= limits.commandBytes)
    throw new NatterError('too_large', `text: has ${limits.commandBytes / 1_024} kB or more; send less`, { field: 'text' });
  const envelope = await commandOf(context, caller, post, ports.clock.now());
  const seen = await access.enter(caller.principal, key);
  if (body.queue === 'interrupt') await access.permitControl(caller.principal, key, 'interrupting a turn of');
  context.newSessions.enter(caller, key);
  const when = await condition();
  if (body.sendAt !== undefined) {
    if (when.ifSeq !== undefined)
      throw new NatterError('invalid', 'if-match: means the session as it is now; leave it out with "sendAt"', {
        field: 'if-match',
      });
    if (waitMs > 0) throw new NatterError('invalid', 'wait: cannot wait for a message with "sendAt"', { field: 'wait' });
    if (attachments.length > 0)
      throw new NatterError('invalid', 'attachments: are not kept for a message with "sendAt"; send them when it is due', {
        field: 'attachments',
      });
    return schedule(context, envelope);
  }
  if (envelope.data.type === 'post_message') await refuseWhenFull(context, key, envelope.data);
  const kept = await withKeptFiles(context, { ...envelope, ...when }, body.attachments);
  const { run, duplicate } = await submitCommand(context, kept, { waitMs, signal, seen, address: caller.ip });
  return waitMs > 0 ? run : { ...run, duplicate };
};
