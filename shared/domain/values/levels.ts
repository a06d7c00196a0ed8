/** How long a model may think about an answer, and how much people see of its work (D11). Logs may have older words. */
export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export const verboseLevels = ['off', 'on', 'full'] as const;
