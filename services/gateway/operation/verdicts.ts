/** The possible answers. */
export const verdicts = ['allow-once', 'allow-always', 'deny'] as const;
