import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { accountName, ParkedAccounts } from '../../../services/delivery/parked-accounts.ts';
import type { FailureClass } from '../../../shared/ports/outlet.ts';

/** D12: who may send while a right is missing. A minute is the first wait. */
const minute = 60_000;
const to = (name: string) => ({ channel: 'chat', to: name });
const account = accountName(to('ann'));
let accounts: ParkedAccounts;
let now = 0;
beforeEach(() => {
  now = 0;
  accounts = new ParkedAccounts({ now: () => now }, pino({ level: 'silent' }));
});

/** How long a message to this person waits, and with whom; `null`: it may try, and does. */
const waits = (name: string): string | null => {
  const wait = accounts.waitOf(to(name));
  return wait && `${wait.scope === account ? 'all' : name} until ${wait.until}`;
};
const tries = (name: string, failure: FailureClass | 'sent'): string => {
  expect(waits(name)).toBeNull();
  const detail = 'HTTP';
  const told = accounts.tried(to(name), failure === 'sent' ? { kind: 'sent' } : { kind: 'refused', failure, detail });
  return told?.kind === 'refused' ? told.failure : 'sent';
};

test('of one that was refused nothing is concluded until another conversation has tried', () => {
  expect(tries('eve', 'permission')).toBe('permission');
  expect(waits('eve')).toBe(`eve until ${minute}`);
  expect(tries('ann', 'sent')).toBe('sent');
  expect(accounts.size).toBe(0);
  expect(tries('eve', 'permission')).toBe('not_found');
  expect([tries('ann', 'sent'), accounts.size]).toEqual(['sent', 0]);
});

test('of two that were refused the account is parked: nobody tries until it is time, and then another one first', () => {
  tries('eve', 'permission');
  tries('bob', 'permission');
  for (const name of ['eve', 'bob', 'ann']) expect(waits(name)).toBe(`all until ${2 * minute}`);
  expect(accounts.waiting()).toMatchObject([{ state: 'parked', attempts: 2 }]);
  now = 2 * minute;
  for (const name of ['eve', 'bob']) expect(waits(name)).toBe(`all until ${now + 1_000}`);
  expect(tries('ann', 'permission')).toBe('permission');
  now += 4 * minute + 5_000;
  expect(tries('bob', 'sent')).toBe('sent');
  expect([tries('eve', 'permission'), tries('ann', 'permission'), accounts.size]).toEqual(['not_found', 'not_found', 0]);
});

test('one by one: while somebody tries, the others wait for the outcome', () => {
  tries('eve', 'permission');
  expect([waits('ann'), waits('bob')]).toEqual([null, 'all until 1000']);
});

test('who was alone tries again when it is time, and what goes through there forgets the refusal', () => {
  tries('eve', 'permission');
  tries('ann', 'sent');
  expect([tries('eve', 'sent'), tries('eve', 'permission'), accounts.size]).toEqual(['sent', 'permission', 1]);
  now = minute;
  expect([tries('eve', 'sent'), accounts.size]).toEqual(['sent', 0]);
});

test('credentials that are refused are the account’s, whoever is told so', () => {
  tries('eve', 'permission');
  expect(tries('ann', 'auth')).toBe('auth');
  expect([waits('eve'), waits('bob')]).toEqual(Array(2).fill(`all until ${2 * minute}`));
});

test('on request all may try at once', () => {
  tries('eve', 'permission');
  tries('bob', 'permission');
  now = minute;
  expect(accounts.resume({ channel: 'chat' })).toEqual([account, ...['eve', 'bob'].map((name) => expect.stringContaining(name))]);
  expect(tries('eve', 'sent')).toBe('sent');
});
