import { withoutSecrets } from '../../domain/config/schema-text.ts';
import { scrubber } from '../../kit/scrub.ts';
import { type Config, type ConfigSource, secretsOf } from './load.ts';

/**
 * A configuration as people may see it (I12): without the values that the schema marks as secrets, and with every known secret hidden in the
 * others, because an address or a command may contain one.
 */
export const shownConfig = (config: Config, env: ConfigSource['env']): unknown =>
  scrubbed(withoutSecrets(config), scrubber(secretsOf(config, env)));

const scrubbed = (value: unknown, scrub: (text: string) => string): unknown => {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, scrub));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, scrubbed(child, scrub)]));
};
