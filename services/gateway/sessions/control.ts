import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { speakerOf } from '../access/speaker.ts';
import { commandIdOf, occasionFor } from '../commands/envelope.ts';
import { type CommandResult, sendCommand } from '../commands/send-command.ts';
import { Refusal } from '../http/problem.ts';
import type { Condition } from '../operation/etag.ts';
import type { Call } from '../operation/operation.ts';

/** Commands that a session itself answers (A11/125, A4/53, A5/64, A8/87–88). */

export interface Control {
  readonly key: SessionKey;
  readonly idempotencyKey?: string | undefined;
  readonly condition?: Condition | undefined;
}
export type ControlResult = CommandResult & { readonly key: SessionKey };

const send = async (
  { context, caller }: Call,
  { key, idempotencyKey, condition }: Control,
  data: SessionCommand,
): Promise<ControlResult> => {
  const runId = commandIdOf(caller, key, data.type, idempotencyKey);
  return { key, ...(await sendCommand(context, caller, key, data, { runId, ...(await condition?.()) })) };
};

/** Who asks, for a caller who may not control all of the session: in one of several people each ends only what is theirs (D7). */
const asker = async ({ context: { access }, caller: { principal } }: Call, key: SessionKey) => {
  await access.enter(principal, key);
  return (await access.mayControl(principal, key)) ? {} : { by: speakerOf(principal, undefined, access.identities) };
};

/** Ends the running turn and clears the queue. */
export const stopSession = async (call: Call, { reason, ...control }: Control & { readonly reason: string }) =>
  send(call, control, { type: 'stop', reason, ...(await asker(call, control.key)) });

/** Takes a message out of the queue before its turn begins. */
export const cancelRun = async (call: Call, { runId, ...control }: Control & { readonly runId: string }) => {
  const by = await asker(call, control.key);
  if (runId.length > limits.idCharacters) throw new Refusal('not_queued', 'runId: no message has so long an id');
  return send(call, control, { type: 'cancel_queued', turnId: runId, ...by });
};

/** Creates a session, or makes an inactive one visible. A person who opens one takes part in it. */
export const openSession = async (call: Call, control: Control) => {
  const { access, newSessions, config, ports } = call.context;
  await access.enter(call.caller.principal, control.key);
  newSessions.enter(call.caller, control.key);
  const by = speakerOf(call.caller.principal, undefined, access.identities);
  const occasion = occasionFor(config, control.key, ports.clock.now());
  return send(call, control, { type: 'open_session', ...occasion, ...(by.role === 'participant' && { by }) });
};

/** Puts a session at rest aside: lists leave it out until it is opened or somebody writes to it (A5/63). */
export const deactivateSession = async (call: Call, { reason, ...control }: Control & { readonly reason: string }) => {
  const { access } = call.context;
  await access.read(call.caller.principal, control.key);
  await access.permitControl(call.caller.principal, control.key, 'deactivating');
  return send(call, control, { type: 'deactivate_session', reason });
};

/** `mustExist`: a session that the caller cannot see is refused here; else it is for the session to answer. */
export interface Reset extends Control {
  readonly reason: string;
  readonly mustExist: boolean;
}

/** Begins a new generation under the same key. */
export const resetSession = async (call: Call, { reason, mustExist, ...control }: Reset) => {
  const { access, newSessions, config, ports } = call.context;
  const { principal } = call.caller;
  if (mustExist) await access.read(principal, control.key);
  else await access.enter(principal, control.key);
  await access.permitControl(principal, control.key, 'resetting');
  newSessions.enter(call.caller, control.key);
  const occasion = occasionFor(config, control.key, ports.clock.now());
  return send(call, control, { type: 'reset', ...occasion, cause: { trigger: 'api', rule: reason } });
};

export interface Deletion extends Control {
  readonly mode: 'session' | 'key';
  readonly reason: string;
}

/**
 * `session`: a direct session at rest, by the owner or by the one person whose it is (A8/87–88). `key`: the owner's, of whatever it is (C9).
 * The next message begins a new session.
 */
export const deleteSession = async (call: Call, { mode, reason, ...control }: Deletion) => {
  await call.context.access.permitDeletion(call.caller.principal, control.key, mode);
  return send(call, control, { type: 'delete_session', mode, reason });
};
