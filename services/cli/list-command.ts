import type { Command } from 'commander';

/** Adds the command `list` to a group. It is also what the group does without a command; its help says so. */
export const listCommand = (group: Command, description: string): Command =>
  group.command('list', { isDefault: true }).description(`${description} (default)`);
