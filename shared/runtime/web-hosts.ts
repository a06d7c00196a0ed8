import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { NatterError } from '../kit/errors.ts';
import { quoted } from '../kit/one-line.ts';

/** Which addresses of the web may be asked (I12): the hosts that the configuration allows, and of these only what is open to everybody. */

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}
/** How names become addresses, and which addresses are open to everybody. Only tests choose others; no configuration can. */
export interface Internet {
  addressesOf(host: string): Promise<readonly HostAddress[]>;
  isPublic(address: string): boolean;
}

/** A cloud's metadata at an address that looks like any other. */
const known = new Set(['168.63.129.16']);

/**
 * True for addresses of the public internet: none of this machine, of a private network, of metadata services, or that stand for such
 * an address in another form.
 */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address) || known.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Of IPv6 only what is given out at all.
  return parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'));
};

export const internet: Internet = {
  addressesOf: (host) => lookup(host, { all: true, order: 'verbatim' }),
  isPublic: isPublicAddress,
};

const hostPattern = /^(\*\.)?[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/;

/** Throws `invalid` when an allowed host cannot be understood. */
export const checkHosts = (hosts: readonly string[]): void => {
  for (const [index, host] of hosts.entries()) {
    if (hostPattern.test(host.toLowerCase())) continue;
    const field = `tools.web.hosts[${index}]`;
    const problem = 'is no host; use for example "example.org", "*.example.org" or "example.org:8443"';
    throw new NatterError('invalid', `${field}: ${JSON.stringify(host)} ${problem}`, { field });
  }
};

const refused = (text: string, why: string) => new NatterError('invalid', `url: ${quoted(text)}: ${why}`, { field: 'url' });

/** The same as a model has it. It has one spelling, so that a rule about it cannot be got round by another. */
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

/** What need not be encoded is not, and the rest in capitals. */
const plainCharacter = (encoded: string): string => {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
};

/** A URL that may be asked: http(s), no credentials, a host of the list. A port counts only where the list names it. Throws `invalid`. */
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

/** Where the host is now. One address that is not public makes all of them suspect. Throws `invalid`, or `unavailable` without an answer. */
export const publicAddresses = async (
  { hostname }: URL,
  { addressesOf, isPublic }: Internet,
): Promise<readonly HostAddress[]> => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const addresses = await addressesOf(host).catch((cause: unknown) => {
    throw new NatterError('unavailable', `url: the host ${quoted(host)} is not found`, { field: 'url', cause });
  });
  if (addresses.length > 0 && addresses.every(({ address }) => isPublic(address))) return addresses;
  throw new NatterError('invalid', `url: the host ${quoted(host)} is not on the public internet`, { field: 'url' });
};

/** For a connection to the addresses that were judged: the name is not looked up again. */
export const pinnedTo =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_, { all }, callback) => {
    if (all) return callback(null, [...addresses]);
    callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
