import { approvalNotice, revoke, waitingRequests } from '../../../shared/domain/routing/pairing.ts';
import { hasCode, NatterError } from '../../../shared/kit/errors.ts';
import type { Audited, CodeDecision } from '../../../shared/runtime/pairing-decisions.ts';
import type { Caller } from '../commands/envelope.ts';
import { ownersOnly } from '../context/access.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Call } from '../operation/operation.ts';

/** Strangers who ask to be let in, and the owner's decisions about them (D8). All throw `NatterError('forbidden')` for others. */

const permit = ({ caller }: Call): void => ownersOnly(caller.principal, 'deciding who may write');

const auditedFor =
  ({ audit }: GatewayContext, caller: Caller): Audited =>
  (kind, target, act) =>
    audit.before(kind, caller, { target }, act);

const noSuchCode = (): NatterError =>
  new NatterError('not_found', 'code: no such code waits on this channel; it is valid for an hour, so ask for the list', {
    field: 'code',
  });

/** Who waits, oldest first, and who was approved. */
export const listPairings = async (call: Call, _: null) => {
  permit(call);
  const { pairings, clock } = call.context.ports;
  const now = clock.now();
  const records = await pairings.all();
  return {
    requests: records
      .flatMap((record) =>
        waitingRequests(record, now).map(({ inboundId: _, ...request }) => ({ channel: record.channel, ...request })),
      )
      .sort((a, b) => a.requestedAt - b.requestedAt),
    paired: records.flatMap(({ channel, paired }) => paired.map(({ code: _, ...sender }) => ({ channel, ...sender }))),
  };
};

interface Code {
  readonly channel: string;
  readonly code: string;
}
/** Throws `NatterError('not_found')`, and `'overloaded'` after too many wrong codes. */
export const approvePairing = async (call: Call, { channel, code }: Code) => {
  permit(call);
  const { context, caller } = call;
  const approved = await context.pairing.approve({ channel, code, by: caller.actor }, auditedFor(context, caller));
  if (approved === null) throw noSuchCode();
  const { code: _, ...sender } = approved;
  return sender;
};

/** The same. */
export const denyPairing = async (call: Call, { channel, code }: Code) => {
  permit(call);
  const { context, caller } = call;
  const denied = await context.pairing.deny({ channel, code, by: caller.actor }, auditedFor(context, caller));
  if (denied === null) throw noSuchCode();
  return denied;
};

/** Takes effect with the sender's next message. Throws `NatterError('not_found')`. */
export const revokePairing = async (call: Call, { channel, senderId }: { channel: string; senderId: string }) => {
  permit(call);
  const { context, caller } = call;
  const revoked = await context.audit.before('pairing_revoked', caller, { target: `${channel}:${senderId}` }, () =>
    context.ports.pairings.change(channel, (record) => revoke(record, senderId)),
  );
  if (revoked !== null) return { channel, senderId };
  throw new NatterError('not_found', 'senderId: this sender was not approved on this channel; ask for the list', {
    field: 'senderId',
  });
};

/** `/pair` of the owner at the gateway: what they are told. */
export const pairByText = async (
  context: GatewayContext,
  caller: Caller,
  decision: Pick<CodeDecision, 'code'>,
): Promise<string> => {
  try {
    const by = caller.actor;
    return approvalNotice(await context.pairing.approve({ ...decision, by }, auditedFor(context, caller)));
  } catch (error) {
    if (error instanceof NatterError && hasCode(error, 'overloaded')) return `Nothing was approved: ${error.message}.`;
    throw error;
  }
};
