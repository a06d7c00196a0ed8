import type { Config } from '../../../shared/domain/config/schema.ts';
import { isLoopback } from '../../../shared/kit/loopback.ts';

/** Whether the gateway serves the page: as configured, else only where nobody but this machine reaches it. */
export const isPageOn = ({ page, gateway }: Pick<Config, 'page' | 'gateway'>): boolean =>
  page.enabled ?? isLoopback(gateway.host);
