import { Gauge, Histogram, Registry } from 'prom-client';
import { type IndexRow, pendingIn } from '../../../shared/domain/projections/index-row.ts';
import { deliveryService } from '../../../shared/ports/dead-letters.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { commitsBehind } from '../../../shared/runtime/commits-behind.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { type Metric, metricsOf, pageOf, pageType } from '../../../shared/runtime/telemetry/metrics.ts';

export interface GatewayMetricsOptions {
  /** The gateway and the other services of this process. */
  services(): readonly Service[];
  readonly ports: Pick<Ports, 'clock' | 'commands' | 'inbound' | 'checkpoints' | 'deadLetters' | 'events' | 'index' | 'problems'>;
  /** The sessions that await an approval. */
  awaiting(): Iterable<IndexRow>;
}

/** A slow broker must not delay the page. */
const askMs = 2_000;

/** Prometheus text of this process: the gateway's own metrics, those of the broker and the index, and those of each service. */
export class GatewayMetrics {
  readonly #options: GatewayMetricsOptions;
  readonly #requests = new Histogram({
    name: 'natter_http_request_duration_seconds',
    help: 'Time to answer a request, by route (never by path), method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 120],
    registers: [],
  });
  readonly contentType = pageType;

  constructor(options: GatewayMetricsOptions) {
    this.#options = options;
  }

  answered(route: string, method: string, status: number, seconds: number): void {
    this.#requests.observe({ route, method, status: String(status) }, seconds);
  }

  async text(): Promise<string> {
    const metrics = await Promise.all([this.#own(), this.#whole(), metricsOf(this.#options.services())]);
    return pageOf(metrics.flat());
  }

  async #own(): Promise<Metric[]> {
    const registry = new Registry();
    registry.registerMetric(this.#requests);
    return registry.getMetricsAsJSON();
  }

  /** Metrics of the whole system, the same at every gateway. Left out while the broker does not answer. */
  async #whole(): Promise<Metric[]> {
    const registry = new Registry();
    const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []): Gauge<L> =>
      new Gauge({ name, help, labelNames, registers: [registry] });
    const pending = gauge('natter_approvals_pending', 'Pending approvals, in the whole system.');
    const oldest = gauge('natter_approval_oldest_age_seconds', 'Age of the oldest pending approval; 0 without one.');
    const queues = gauge('natter_queue_messages', 'Messages in a queue that are not done yet, in the whole system.', ['queue']);
    const dead = gauge('natter_dead_letters', 'Messages nobody could process that are kept for a person, in the whole system.');
    const open = gauge('natter_deliveries_open', 'Outgoing messages that may not have arrived and are kept for a person.');
    const lag = gauge('natter_index_lag_commits', 'Sequences of the log that the session index does not reflect yet.');

    const { clock, commands, inbound, checkpoints, deadLetters, events, index } = this.#options.ports;
    const asked = [...this.#options.awaiting()].flatMap((row) => pendingIn(row).map(({ requestedAt }) => requestedAt));
    pending.set(asked.length);
    oldest.set(asked.length === 0 ? 0 : Math.max(0, clock.now() - Math.min(...asked)) / 1_000);
    await Promise.all([
      this.#ask(commands.lag(), (messages) => queues.set({ queue: 'commands' }, messages)),
      this.#ask(inbound.lag(), (messages) => queues.set({ queue: 'inbound' }, messages)),
      this.#ask(checkpoints.lag(), (messages) => queues.set({ queue: 'checkpoints' }, messages)),
      this.#ask(deadLetters.count(), (letters) => dead.set(letters)),
      this.#ask(deadLetters.count(deliveryService), (deliveries) => open.set(deliveries)),
      this.#ask(
        index.position().then((position) => commitsBehind(events, position)),
        (behind) => lag.set(behind),
      ),
    ]);
    return registry.getMetricsAsJSON();
  }

  async #ask<T>(asked: Promise<T>, tell: (answer: T) => void): Promise<void> {
    const over = new AbortController();
    const late = this.#options.ports.clock.sleep(askMs, over.signal).then(() => null);
    const answer = await Promise.race([asked.catch(() => null), late]);
    over.abort();
    if (answer !== null) tell(answer);
  }
}
