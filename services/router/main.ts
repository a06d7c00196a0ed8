import type { Config } from '../../shared/domain/config/schema.ts';
import type { InboundEnvelope } from '../../shared/domain/routing/inbound-envelope.ts';
import { createRoute, type Route, type Routed } from '../../shared/domain/routing/route.ts';
import { assert } from '../../shared/kit/assert.ts';
import { errorMessage, hasCode } from '../../shared/kit/errors.ts';
import type { Logger } from '../../shared/kit/log.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { AckOutcome, Delivery } from '../../shared/ports/work-queue.ts';
import type { Current } from '../../shared/runtime/config/reload.ts';
import type { Service } from '../../shared/runtime/service.ts';
import { pairingSteps } from './pairing.ts';

export interface RouterOptions {
  readonly config: Current<Config>;
  readonly ports: Pick<Ports, 'clock' | 'inbound' | 'commands' | 'pairings' | 'audit'>;
  readonly log: Logger;
  readonly member: string;
}

/** The route for the current configuration, rebuilt only when that changes. */
const currentRoute = (config: Current<Config>): (() => Route) => {
  let known = config.current();
  let route = createRoute(known);
  return () => {
    const current = config.current();
    if (current !== known) [known, route] = [current, createRoute(current)];
    return route;
  };
};

/** Starts the service that turns inbound envelopes into commands, in order per conversation. */
export const startRouter = async ({ config, ports, log, member }: RouterOptions): Promise<Service> => {
  const route = currentRoute(config);
  const counts = {
    ...{ routed_total: 0, duplicates_total: 0, dropped_total: 0, unroutable_total: 0, retries_total: 0 },
    pairing_notices_total: 0,
  };
  const takeStep = pairingSteps(ports);

  /** The configuration drops it (`dmPolicy`, `groups`): the envelope is valid, and nobody needs to look at it. */
  const dropped = (envelope: InboundEnvelope, reason: string): AckOutcome => {
    counts.dropped_total += 1;
    log.info({ inboundId: envelope.id, channel: envelope.channel, reason }, 'inbound envelope dropped');
    return { kind: 'done' };
  };

  const unroutable = (envelope: InboundEnvelope, reason: string): AckOutcome => {
    counts.unroutable_total += 1;
    log.warn({ inboundId: envelope.id, channel: envelope.channel, reason }, 'inbound envelope moved to the dead letters');
    return { kind: 'dead', reason };
  };

  /** Routes the envelope, and once more with what its pairing step has found out. */
  const routedAfterPairing = async (envelope: InboundEnvelope): Promise<Exclude<Routed, { pairing: unknown }>> => {
    const [current, now] = [route(), ports.clock.now()];
    const routed = current(envelope, now);
    if (!('pairing' in routed)) return routed;
    const result = await takeStep(routed.pairing, envelope);
    if ('dropped' in result) return result;
    if ('notice' in result && routed.pairing.kind === 'stranger') {
      counts.pairing_notices_total += 1;
      log.info({ inboundId: envelope.id, channel: envelope.channel }, 'a stranger got a pairing code; the message is not kept');
    }
    const known = current(envelope, now, result);
    assert(!('pairing' in known), 'one step is enough');
    return known;
  };

  const handle = async ({ message: envelope, attempt }: Delivery<InboundEnvelope>): Promise<AckOutcome> => {
    try {
      const routed = await routedAfterPairing(envelope);
      if ('dropped' in routed) return dropped(envelope, routed.dropped);
      if ('unroutable' in routed) return unroutable(envelope, routed.unroutable);
      const { duplicate } = await ports.commands.publish(routed.command);
      counts[duplicate ? 'duplicates_total' : 'routed_total'] += 1;
      return { kind: 'done' };
    } catch (error) {
      if (hasCode(error, 'too_large') || hasCode(error, 'invalid')) return unroutable(envelope, errorMessage(error));
      counts.retries_total += 1;
      log.warn({ inboundId: envelope.id, attempt, reason: errorMessage(error) }, 'command not published; its partition waits');
      return { kind: 'retry' };
    }
  };

  const consumption = await ports.inbound.consume({ member, handle });
  return {
    name: 'router',
    problems: () => consumption.problems(),
    warnings: () => consumption.warnings(),
    metrics: () => ({ ...counts, partitions: consumption.owned().length }),
    stop: (deadlineMs) => consumption.close(deadlineMs),
  };
};
