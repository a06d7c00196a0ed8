import { randomInt } from 'node:crypto';
import type { InboundEnvelope } from '../../shared/domain/routing/inbound-envelope.ts';
import {
  admit,
  approvalNotice,
  pairingAlphabet,
  pairingCodeCharacters,
  pairingNotice,
} from '../../shared/domain/routing/pairing.ts';
import type { PairingResult, PairingStep } from '../../shared/domain/routing/route.ts';
import { errorMessage, hasCode } from '../../shared/kit/errors.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { type Audited, PairingDecisions } from '../../shared/runtime/pairing-decisions.ts';

const randomCode = (): string =>
  Array.from({ length: pairingCodeCharacters }, () => pairingAlphabet[randomInt(pairingAlphabet.length)]).join('');

/** Does what the route of an envelope needs of pairing (D8). Rejects with `unavailable`; the same step again changes nothing. */
export const pairingSteps = (
  ports: Pick<Ports, 'pairings' | 'clock' | 'audit'>,
): ((step: PairingStep, envelope: InboundEnvelope) => Promise<PairingResult | { readonly dropped: string }>) => {
  const { pairings, clock, audit } = ports;
  const decisions = new PairingDecisions(ports);

  const meet = async ({ channel, id: inboundId, sender }: InboundEnvelope): Promise<PairingResult | { dropped: string }> => {
    const { id: senderId, name } = sender;
    const stranger = { code: randomCode(), senderId, inboundId, ...(name !== undefined && { name }) };
    const admission = await pairings.change(channel, (record) => admit(record, stranger, clock.now()));
    switch (admission.kind) {
      case 'paired':
        return { isPaired: true };
      case 'told':
        return { notice: pairingNotice(admission.code) };
      case 'silent':
        return { dropped: `channels.${channel}.dmPolicy: ${admission.why}` };
    }
  };

  const approve = async ({ code, by }: PairingStep & { kind: 'approve' }): Promise<PairingResult> => {
    const audited: Audited = async (kind, target, act) => {
      await audit.append({ v: 1, at: clock.now(), kind, actor: by, target, outcome: 'ok' });
      return act();
    };
    try {
      return { notice: approvalNotice(await decisions.approve({ code, by }, audited)) };
    } catch (error) {
      if (hasCode(error, 'overloaded')) return { notice: `Nothing was approved: ${errorMessage(error)}.` };
      throw error;
    }
  };

  return (step, envelope) => (step.kind === 'stranger' ? meet(envelope) : approve(step));
};
