/** Runs at most `size` callers at a time; the others wait in the order they came. */
export const createSlots = (size: number) => {
  let free = size;
  const waiting: (() => void)[] = [];
  return {
    async use<T>(work: () => Promise<T>): Promise<T> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
};
export type Slots = ReturnType<typeof createSlots>;
