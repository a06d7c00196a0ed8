/** A model as people call it. */
export const modelWords = (model: string): string => (model === 'offline' ? 'offline (built-in)' : model);
