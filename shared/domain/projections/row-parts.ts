import { limits } from '../../kit/limits.ts';
import type { EventOf } from '../session/events.ts';
import type { Sender, Settings } from '../values/types.ts';
import type { IndexRow } from './summary.ts';

/** Parts of a row of the index that take some making. */

const principalOf = ({ principal, id }: Sender): string => principal ?? id;

export const previewOf = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= limits.previewCharacters ? line : `${characters.slice(0, limits.previewCharacters - 1).join('')}…`;
};

/** A program that writes here does not take part: whoever has its name would see what it sees (A8/89). */
export const withParticipant = (participants: readonly string[], sender: Sender): readonly string[] => {
  const id = principalOf(sender);
  return sender.role === 'program' || participants.includes(id)
    ? participants
    : [...participants, id].slice(-limits.participants);
};

/** A person's description goes before any other; taken back it leaves none until the next look back. */
export const described = (settings: Settings, description: string | null | undefined): Partial<IndexRow> => {
  if (description === undefined) return { settings };
  return { settings, description: description ?? '', descriptionSource: description === null ? null : 'person' };
};

export const introspectionParts = (
  row: IndexRow,
  { workingMemory = row.workingMemory, description }: EventOf<'introspected'>,
  introspectedAt: number,
): Partial<IndexRow> => ({
  workingMemory,
  introspectedAt,
  ...(description !== undefined && row.descriptionSource !== 'person' && { description, descriptionSource: 'introspection' }),
});
