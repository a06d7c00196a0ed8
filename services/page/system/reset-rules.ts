import type { ConfigInForce } from '../../../shared/client/main.ts';

/** The rules of the configuration by which sessions begin afresh (A4/44, 48, 50–52), in words. */

type Keys = ConfigInForce['keys'];

export interface ResetRule {
  readonly words: string;
  /** The local hour of a daily reset, and its zone. */
  readonly daily?: { readonly hour: number; readonly zone: string };
}

const ofTypes: Readonly<Record<string, string>> = {
  dm: 'Direct conversations',
  group: 'Groups and channels',
  thread: 'Threads and topics',
};
const usual = { hour: 4, idleMinutes: 60 } as const;
const quarterMs = 15 * 60_000;

const whom = (scope: string, isAlone: boolean): string => {
  const [, kind = '', name = ''] = /^session\.(\w+)\.?(.*)$/.exec(scope) ?? [];
  if (kind === 'resetByType') return ofTypes[name] ?? name;
  if (kind === 'resetByChannel') return `Conversations on ${name}`;
  return isAlone ? 'All sessions' : 'All other sessions';
};

const spanWords = (minutes: number): string => {
  if (minutes === 1) return 'a minute';
  if (minutes === 60) return 'an hour';
  return minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
};

/** The rules in force, the general one last. */
export const resetRules = (keys: Keys): readonly ResetRule[] => {
  const values = new Map(keys.map(({ path, value }) => [path, value]));
  const numberAt = (path: string): number | undefined => {
    const value = values.get(path);
    return typeof value === 'number' ? value : undefined;
  };
  const zone = String(values.get('session.timeZone') ?? 'UTC');
  const older = numberAt('session.idleMinutes');
  const own = [...values.keys()].flatMap(
    (path) => /^(session\.resetBy(?:Type|Channel)\..+)\.(?:mode|atHour|idleMinutes)$/.exec(path)?.[1] ?? [],
  );
  const scopes = [...new Set(own), 'session.reset'];
  const hasOfType = scopes.some((scope) => scope.startsWith('session.resetByType.'));
  return scopes.map((scope) => {
    const isChannel = scope.startsWith('session.resetByChannel.');
    const mode =
      values.get(`${scope}.mode`) ?? (scope === 'session.reset' && older !== undefined && !hasOfType ? 'idle' : 'daily');
    const fallback = mode === 'idle' ? usual.idleMinutes : undefined;
    const idle = numberAt(`${scope}.idleMinutes`) ?? (isChannel ? undefined : older) ?? fallback;
    const hour = numberAt(`${scope}.atHour`) ?? usual.hour;
    const daily = mode === 'daily' ? `every day at ${String(hour).padStart(2, '0')}:00 (${zone})` : null;
    const silent = idle === undefined ? null : `after ${spanWords(idle)} without a message`;
    const when = [daily, silent].filter((part) => part !== null).join(', and ');
    return {
      words: `${whom(scope, scopes.length === 1)} begin afresh ${when}.`,
      ...(mode === 'daily' && { daily: { hour, zone } }),
    };
  });
};

/** The next time after `now` at which the clocks of a zone reach an hour, or have skipped it. Clocks differ by quarters of an hour. */
export const nextAtHour = (now: number, hour: number, zone: string): number => {
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone });
  const minutesAt = (at: number): number => {
    const [hours = 0, minutes = 0] = clock.format(at).split(':').map(Number);
    return hours * 60 + minutes;
  };
  const wanted = hour * 60;
  let at = Math.floor(now / quarterMs) * quarterMs;
  for (let quarters = 0; quarters < 30 * 4; quarters++) {
    const before = minutesAt(at);
    at += quarterMs;
    const after = minutesAt(at);
    const isNextDay = after < before - 12 * 60;
    if (after >= wanted && (before < wanted || isNextDay)) return at;
  }
  return at;
};
