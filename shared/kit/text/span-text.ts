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
