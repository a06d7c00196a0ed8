const nearMs = 900_000;

/** A time as a field of date and time has it: `2026-03-04T15:00`, by the clock of this machine. */
export const fieldTime = (at: number): string => {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
};

/** The next full hour that is not too near to be meant. */
export const nextHour = (now: number): number => {
  const next = new Date(now + nearMs);
  return next.setHours(next.getHours() + 1, 0, 0, 0);
};
