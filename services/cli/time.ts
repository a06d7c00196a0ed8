import { Temporal } from 'temporal-polyfill';
import { NatterError } from '../../shared/kit/errors.ts';
import type { CommonOptions } from './access.ts';
import type { World } from './terminal.ts';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The time zone for the times a command prints: the local one, or UTC with `--utc`. */
export const zoneOf = ({ timeZone }: Pick<World, 'timeZone'>, { utc }: Pick<CommonOptions, 'utc'>): string =>
  utc ? 'UTC' : timeZone;

/**
 * A time for people, in ISO 8601 with the offset of the zone at that time: `2026-11-21T11:00:00+01:00`, in UTC `2026-11-21T10:00:00Z`. It
 * can be pasted into any option that takes a time. `at` is in milliseconds since 1970.
 */
export const timeText = (at: number, zone: string): string => {
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(at));
  if (zone === 'UTC') return instant.toString({ smallestUnit: 'second' });
  return instant.toZonedDateTimeISO(zone).toString({ smallestUnit: 'second', timeZoneName: 'never' });
};

/**
 * Reads the time given to `option`: an ISO date or time (`2026-11-21`, `2026-11-21T10:00Z`), or a span from `now` such as `+10m`, `-2h`.
 * Milliseconds since 1970. Throws `NatterError('invalid')`, with examples of what to use.
 */
export const parseTime = (option: string, text: string, now: number, such = '2026-11-21T10:00Z, +10m or -2h'): number => {
  const span = /^([+-])(\d{1,9})([smhd])$/.exec(text);
  if (span) return now + (span[1] === '-' ? -1 : 1) * Number(span[2]) * units[span[3] as keyof typeof units];
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new NatterError('invalid', `${option}: "${text}" is not a time; use for example ${such}`);
  return time;
};

/** Reads a time that is yet to come, as `parseTime` does. */
export const laterTime = (option: string, text: string, now: number): number => {
  const such = `+10m or ${new Date(now + units.d).toISOString().slice(0, 10)}T10:00Z`;
  const time = parseTime(option, text, now, such);
  if (time <= now) throw new NatterError('invalid', `${option}: "${text}" is in the past; use for example ${such}`);
  return time;
};

/**
 * The place in the log given to `option`, as the gateway takes it: a sequence such as `1234`, or a time in ISO 8601. Throws
 * `NatterError('invalid')`.
 */
export const logPlace = (option: string, text: string, now: number): string =>
  /^\d{1,15}$/.test(text) ? String(Number(text)) : new Date(parseTime(option, text, now)).toISOString();

/** How long ago, for people: `now`, `45s`, `12m`, `3h`, `9d`. */
export const ago = (time: number, now: number): string => {
  const seconds = Math.max(0, Math.round((now - time) / 1_000));
  if (seconds < 2) return 'now';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
};

/** A duration for people: `850 ms`, `3.2 s`, `4 min 05 s`. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${String(Math.round((ms % 60_000) / 1_000)).padStart(2, '0')} s`;
};
