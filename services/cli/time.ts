import { NatterError } from '../../shared/kit/errors.ts';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads a time that a person typed: an ISO date or time (`2026-11-21`, `2026-11-21T10:00Z`), or a span from `now` such as `+10m`, `-2h`.
 * Milliseconds since 1970. Throws `NatterError('invalid')`.
 */
export const parseTime = (text: string, now: number): number => {
  const span = /^([+-])(\d{1,9})([smhd])$/.exec(text);
  if (span) return now + (span[1] === '-' ? -1 : 1) * Number(span[2]) * units[span[3] as keyof typeof units];
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new NatterError('invalid', `"${text}" is no time; use for example 2026-11-21T10:00Z, +10m or -2h`);
  return time;
};

/** Reads a place in the log: a sequence such as `1234`, or a time. */
export const parsePlace = (text: string, now: number): { seq: number } | { time: number } =>
  /^\d{1,15}$/.test(text) ? { seq: Number(text) } : { time: parseTime(text, now) };

/** A place in the log as the gateway takes it: a sequence, or a time in ISO 8601. Throws `NatterError('invalid')`. */
export const momentAt = (text: string, now: number): string => {
  const place = parsePlace(text, now);
  return 'seq' in place ? String(place.seq) : new Date(place.time).toISOString();
};

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
