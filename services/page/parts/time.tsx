import { now } from '../base/now.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** A span in words: `3 min`, `2 h 5 min`, `4 d`. */
export const spanText = (ms: number): string => {
  if (ms < minute) return `${Math.max(0, Math.round(ms / 1_000))} s`;
  const minutes = Math.round(ms / minute);
  if (minutes < 60) return `${minutes} min`;
  if (ms < day) {
    const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
    return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
  }
  return `${Math.round(ms / day)} d`;
};

/** A span in words, a short one in milliseconds. */
export const latencyText = (ms: number): string => (ms < 10_000 ? `${ms} ms` : spanText(ms));

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const clockExact = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dateAndYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

const isSameDay = (one: Date, other: Date): boolean => one.toDateString() === other.toDateString();

/** A time as short as it can be without doubt: today's by the clock, this year's by the date. */
export const shortTime = (at: number, today: number): string => {
  const [then, current] = [new Date(at), new Date(today)];
  if (isSameDay(then, current)) return clock.format(then);
  return (then.getFullYear() === current.getFullYear() ? date : dateAndYear).format(then);
};

interface TimeProps {
  readonly at: number;
  /** With seconds today, and with the clock on other days. */
  readonly exact?: boolean;
  /** With the clock on every day, without seconds. */
  readonly clock?: boolean;
}

/** A local time; UTC while the pointer rests on it. */
export const Time = ({ at, exact = false, clock: hasClock = false }: TimeProps) => {
  const moment = new Date(at);
  const isToday = isSameDay(moment, new Date(now.value));
  const short = shortTime(at, now.value);
  const precise = isToday ? clockExact.format(moment) : `${short}, ${clock.format(moment)}`;
  const text = exact || (hasClock && !isToday) ? precise : short;
  return (
    <time dateTime={moment.toISOString()} title={moment.toISOString().replace('T', ' ').replace('Z', ' UTC')}>
      {text}
    </time>
  );
};
