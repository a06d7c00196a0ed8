import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { NatterError } from '../kit/errors.ts';
import { quoted } from '../kit/one-line.ts';

/** Which web addresses may be requested (I12): the hosts that the configuration allows, and of these only public ones. */

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}
/** Name resolution and the check for public addresses. Replaced only by tests, never by configuration. */
export interface Internet {
  addressesOf(host: string): Promise<readonly HostAddress[]>;
  isPublic(address: string): boolean;
}

/** A cloud's metadata service at an address that looks public. */
const known = new Set(['168.63.129.16']);

/**
 * True for addresses of the public internet: not this machine, private networks or metadata services, nor other notations of such
 * addresses.
 */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address) || known.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Of IPv6 only the allocated range.
  return parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'));
};

export const internet: Internet = {
  addressesOf: (host) => lookup(host, { all: true, order: 'verbatim' }),
  isPublic: isPublicAddress,
};

const hostPattern = /^(\*\.)?[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/;

/** Throws `invalid` for a malformed allowed host. */
export const checkHosts = (hosts: readonly string[]): void => {
  for (const [index, host] of hosts.entries()) {
    if (hostPattern.test(host.toLowerCase())) continue;
    const field = `tools.web.hosts[${index}]`;
    const problem = 'is not a host; use for example "example.org", "*.example.org" or "example.org:8443"';
    throw new NatterError('invalid', `${field}: ${JSON.stringify(host)} ${problem}`, { field });
  }
};

const refused = (text: string, why: string) => new NatterError('invalid', `url: ${quoted(text)}: ${why}`, { field: 'url' });

/**
 * Like `allowedUrl`, for URLs written by a model. It accepts only the canonical spelling, so that a rule cannot be evaded with
 * another one.
 */
export const plainUrl = (text: string, hosts: readonly string[]): URL => {
  const url = allowedUrl(text, hosts);
  const plain = new URL(url);
  plain.hash = '';
  if (plain.search === '') plain.search = '';
  plain.hostname = url.hostname.replace(/\.$/, '');
  const spelling = plain.href.replace(/%[0-9a-f]{2}/gi, plainCharacter);
  if (spelling !== text) throw refused(text, `write it as ${quoted(spelling, 2_048)}`);
  return url;
};

/** Decodes what need not be encoded, and writes the rest in capitals. */
const plainCharacter = (encoded: string): string => {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
};

/** Validates a URL: http(s), no credentials, an allowed host. A port is allowed only if the list names it. Throws `invalid`. */
export const allowedUrl = (text: string, hosts: readonly string[], base?: URL): URL => {
  if (!URL.canParse(text, base?.href)) throw refused(text, 'it is not a URL; use for example "https://example.org/page"');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(text, 'use http or https');
  if (url.username !== '' || url.password !== '') throw refused(text, 'it has credentials; leave them out');
  if (!hosts.some((host) => isHost(host.toLowerCase(), url))) throw refused(text, 'its host is not allowed; see tools.web.hosts');
  return url;
};

const isHost = (pattern: string, { hostname, port, protocol }: URL): boolean => {
  const [, name = '', allowedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  const usualPort = protocol === 'https:' ? '443' : '80';
  if ((port || usualPort) !== (allowedPort ?? usualPort)) return false;
  const host = hostname.replace(/\.$/, '');
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length >= name.length : host === name;
};

/**
 * The host's current addresses. A single non-public address rejects all. Throws `invalid`, or `unavailable` if the host cannot be
 * resolved.
 */
export const publicAddresses = async (
  { hostname }: URL,
  { addressesOf, isPublic }: Internet,
): Promise<readonly HostAddress[]> => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const addresses = await addressesOf(host).catch((cause: unknown) => {
    throw new NatterError('unavailable', `url: the host ${quoted(host)} cannot be found`, { field: 'url', cause });
  });
  if (addresses.length > 0 && addresses.every(({ address }) => isPublic(address))) return addresses;
  throw new NatterError('invalid', `url: the host ${quoted(host)} is not on the public internet`, { field: 'url' });
};

/** Connects only to the checked addresses, without resolving the name again. */
export const pinnedTo =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_, { all }, callback) => {
    if (all) return callback(null, [...addresses]);
    callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
