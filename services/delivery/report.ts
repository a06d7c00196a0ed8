import type { Config } from '../../shared/domain/config/schema.ts';
import { runIdOf } from '../../shared/domain/keys/run-id.ts';
import { type DeliveryReport, deliveryDetailCharacters } from '../../shared/domain/values/delivery.ts';
import { secretHider } from '../../shared/kit/scrub.ts';
import type { Outbound } from '../../shared/ports/custody-log.ts';
import { deliveryService } from '../../shared/ports/dead-letters.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { deliveryActor } from '../../shared/runtime/outgoing/content.ts';
import { sentCount } from '../../shared/runtime/outgoing/custody.ts';
import { subjectsUnder } from '../../shared/wire/subjects.ts';
import { undeliveredCodec } from '../../shared/wire/undelivered.ts';
import type { DeliveryState } from './delivery-state.ts';
import { unsentText } from './parts/custody-parts.ts';

export interface ReportOptions {
  readonly config: Config;
  readonly ports: Pick<Ports, 'clock' | 'commands' | 'deadLetters'>;
  /** Secrets of the installation: an outlet's words may contain them, and the session has readers (I12). */
  readonly secrets: readonly string[];
}

/**
 * Keeps an outbound that may not have arrived, until a person decides about it, and tells its session, once however often it is called (D12).
 * Nothing comes back from a report: it is no message, and its event sends none.
 */
export const createReport = ({ config, ports, secrets }: ReportOptions) => {
  const subjects = subjectsUnder(config.prefix);
  const hide = secretHider(secrets);

  return async (outbound: Outbound, { state, detail = 'refused', parts }: DeliveryState): Promise<void> => {
    const outcome = state as DeliveryReport['outcome'];
    const counts = parts && { parts: { sent: sentCount(parts), of: parts.cuts.length + 1 } };
    const { id, key, kind, target, turnId } = outbound;
    const at = ports.clock.now();
    const text = unsentText(outbound.text, parts);
    await ports.deadLetters.put({
      ...{ id, service: deliveryService, reason: detail, subject: subjects.delivery(state, target), at },
      bytes: undeliveredCodec.encode({ ...outbound, text, outcome, ...counts }),
    });
    // Its session was erased.
    if (outbound.text === '') return;
    const commandId = runIdOf(key, `report-${id}`);
    const told = hide(detail).slice(0, deliveryDetailCharacters).toWellFormed();
    await ports.commands.publish({
      ...{ id: commandId, key, at, correlationId: turnId, causationId: id, actor: deliveryActor },
      data: { type: 'report_delivery', outboundId: id, kind, deliverTo: target, outcome, detail: told, ...counts },
    });
  };
};
