/** How the offline model uses memory (`docs/use/offline-model.md`). */

/** True of a message that asks what the agent remembers. */
export const asksMemory = (prompt: string): boolean => /\[\[memory\]\]|\bwhat do you remember\b/i.test(prompt);

/** The lines of the section "Memory" in the system prompt. */
export const remembered = (system: string): string => {
  const [, section = ''] = system.split(/^## Memory$/m);
  const lines = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('- ['));
  return lines.length === 0 ? 'I remember nothing.' : ['I remember:', ...lines].join('\n');
};
