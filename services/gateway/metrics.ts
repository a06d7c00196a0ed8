import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Service } from '../../shared/kit/service.ts';

/** Prometheus text of this process: the door's own numbers and those that each service tells by `metrics()`. */
export class GatewayMetrics {
  readonly #services: () => readonly Service[];
  readonly #own = new Registry();
  readonly #requests: Histogram;

  constructor(services: () => readonly Service[]) {
    this.#services = services;
    this.#requests = new Histogram({
      name: 'natter_http_request_seconds',
      help: 'Time to answer a request, by route, method and status.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 120],
      registers: [this.#own],
    });
  }

  answered(route: string, method: string, status: number, seconds: number): void {
    this.#requests.observe({ route, method, status: String(status) }, seconds);
  }

  async text(): Promise<string> {
    return Registry.merge([this.#own, this.#ofServices()]).metrics();
  }
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  /** Read anew at each scrape. Services of one name (several hosts in one process) are added up. */
  #ofServices(): Registry {
    const registry = new Registry();
    for (const service of this.#services()) {
      for (const [name, value] of Object.entries(service.metrics())) {
        const settings = {
          name: `natter_${name}`.replaceAll(/[^A-Za-z0-9_]/g, '_'),
          help: `${name} of a service.`,
          labelNames: ['service'],
          registers: [registry],
        };
        const known = registry.getSingleMetric(settings.name);
        if (settings.name.endsWith('_total')) ((known as Counter) ?? new Counter(settings)).inc({ service: service.name }, value);
        else ((known as Gauge) ?? new Gauge(settings)).inc({ service: service.name }, value);
      }
    }
    return registry;
  }
}
