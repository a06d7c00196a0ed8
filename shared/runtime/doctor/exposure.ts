import type { Config } from '../../domain/config/schema.ts';
import { dangers, ownerless } from '../../domain/routing/dm-safety.ts';
import { isLoopback } from '../../kit/loopback.ts';
import type { IssuedToken } from '../../ports/access/tokens.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Checks of what the configuration exposes to other people. */

const leastTokenCharacters = 32;
const dayMs = 86_400_000;
/** A token that expires within this time should be rotated now. */
const soonMs = 7 * dayMs;

/** No two people share one direct session (A3/31). */
export const directMessages = (config: Config): Finding => {
  const [danger] = dangers(config);
  if (danger === undefined) return ok('privacy', 'no two people share a direct session');
  const [what = danger, fix = ''] = danger.split('; ');
  return fail('privacy', what, fix);
};

/** Somebody on the channels may do what is the owner's (D7). */
export const owner = (config: Config): Finding => {
  const [what = '', fix = ''] = ownerless(config)?.split('; ') ?? [];
  return what === '' ? ok('owner', 'the channels have an owner, or there are none') : warn('owner', what, fix);
};

/** Who can reach the gateway: without TLS, only this machine should. */
export const bindAddress = ({ gateway: { host, port, allowPublicBind, trustedProxies } }: Pick<Config, 'gateway'>): Finding => {
  const where = `${host}:${port}`;
  if (isLoopback(host)) return ok('address', `${where}, reachable from this machine only`);
  const reached = `${where} is reachable from other machines without encryption`;
  if (!allowPublicBind)
    return fail('address', reached, 'set gateway.host to 127.0.0.1, or put a TLS proxy in front and set gateway.allowPublicBind');
  if (trustedProxies.length === 0)
    return warn(
      'address',
      `${reached}, and no proxy is trusted`,
      'put a TLS proxy in front and name it in gateway.trustedProxies',
    );
  return ok('address', `${where}, behind ${trustedProxies.join(', ')}`);
};

/** Values that others could guess, or that let them read traffic. */
const insecure = ({ gateway, nats, outlets }: Pick<Config, 'gateway' | 'nats' | 'outlets'>): { field: string; fix: string }[] => {
  const isOpen = (url: string, schemes: RegExp): boolean => {
    const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: 'localhost' };
    return schemes.test(protocol) && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
  };
  // With `nats.tls` there is no connection without TLS, whatever the scheme.
  const brokers = nats.tls ? [] : (nats.url ?? '').split(',').filter((url) => isOpen(url.trim(), /^(nats|ws):$/));
  return [
    ...(gateway.token !== undefined && gateway.token.length < leastTokenCharacters
      ? [{ field: 'gateway.token is short', fix: `use at least ${leastTokenCharacters} random characters` }]
      : []),
    ...(brokers.length > 0 ? [{ field: 'nats.url is not encrypted', fix: 'use tls:// for a broker on another machine' }] : []),
    ...gateway.allowedOrigins
      .filter((origin) => isOpen(origin, /^http:$/))
      .map((origin) => ({
        field: `gateway.allowedOrigins has ${origin}`,
        fix: 'use https: an attacker on the network can pose as that page',
      })),
    ...Object.entries(outlets.webhooks)
      .filter(([, { url, statusUrl = url }]) => [url, statusUrl].some((address) => isOpen(address, /^http:$/)))
      .map(([name]) => ({ field: `outlets.webhooks.${name} is not encrypted`, fix: 'use https' })),
  ];
};
export const configuredValues = (config: Pick<Config, 'gateway' | 'nats' | 'outlets'>): Finding => {
  const found = insecure(config);
  if (found.length === 0) return ok('settings', 'no guessable token and no unencrypted address');
  return warn('settings', found.map(({ field }) => field).join('; '), found.map(({ fix }) => fix).join('; '));
};

/** Tokens that have expired or expire soon. Without any, every caller is the administrator. */
export const tokens = (config: Pick<Config, 'gateway'>, issued: readonly IssuedToken[], now: number): Finding => {
  // Those of pages last half a day, and nobody makes another before it ends.
  const current = issued.filter(({ revokedAt, parent }) => revokedAt === undefined && parent === undefined);
  // Links to shared sessions are made to end.
  const lasting = current.filter(({ role }) => role !== 'viewer');
  const endsAt = ({ expiresAt = Number.POSITIVE_INFINITY }: IssuedToken): number => expiresAt;
  const idsOf = (some: readonly IssuedToken[]): string =>
    some.map(({ id, label }) => (label ? `${id} (${label})` : id)).join(', ');
  const expired = lasting.filter((token) => endsAt(token) <= now);
  const ending = lasting.filter((token) => endsAt(token) > now && endsAt(token) - now < soonMs);
  if (ending.length > 0)
    return warn('tokens', `these expire within 7 days: ${idsOf(ending)}`, 'create new ones: natter token create');
  if (expired.length > 0) return warn('tokens', `these have expired: ${idsOf(expired)}`, 'remove them: natter token revoke ID');
  const count = current.filter((token) => endsAt(token) > now).length + Object.keys(config.gateway.tokens).length;
  if (count > 0) return ok('tokens', `${count} besides the installation's own`);
  return isLoopback(config.gateway.host)
    ? ok('tokens', "only the installation's own")
    : warn(
        'tokens',
        'others can reach the gateway, and every caller is the administrator',
        'create a token for each: natter token create --role …',
      );
};
