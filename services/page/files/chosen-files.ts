import { type Signal, signal } from '@preact/signals';
import { problemOfFiles } from '../../../shared/domain/values/attachment.ts';
import { who } from '../base/signed-in.ts';
import { announce } from '../parts/announce.tsx';
import { fileName, typeOf } from './file-words.ts';

/** Files that are chosen for a session's next message. They stay while the page is open; through a reload only their names do. */
interface Chosen {
  readonly files: readonly File[];
  /** Names of those that a reload has lost; `null`: none. */
  readonly lost: string | null;
}

const storedName = (key: string): string => `natter-files:${key}`;
const bySession = new Map<string, Signal<Chosen>>();

export const chosenFor = (key: string): Signal<Chosen> => {
  const known = bySession.get(key) ?? signal<Chosen>({ files: [], lost: sessionStorage.getItem(storedName(key)) });
  bySession.set(key, known);
  return known;
};

/** Replaces what is chosen. */
export const chooseFiles = (key: string, files: readonly File[]): void => {
  chosenFor(key).value = { files, lost: null };
  if (files.length === 0) sessionStorage.removeItem(storedName(key));
  else sessionStorage.setItem(storedName(key), files.map(fileName).join(', '));
};

/** Adds files to what is chosen. */
export const addFiles = (key: string, files: Iterable<File>): void => {
  const added = [...files];
  if (added.length === 0) return;
  chooseFiles(key, [...chosenFor(key).peek().files, ...added]);
  announce(`Attached: ${added.map(fileName).join(', ')}`);
};

/** Whether messages may have files here. A gateway before this one may not say. */
export const takesFiles = (): boolean => (who.value?.attachments?.perMessage ?? 1) > 0;

/** Why the gateway would refuse these files in one message, in its own words; `null`: it would take them. */
export const refusalOf = (files: readonly File[]): string | null => {
  const limits = who.value?.attachments;
  if (limits === undefined) return null;
  const problem = problemOfFiles(
    limits,
    files.map((file) => ({ name: file.name || undefined, type: typeOf(file), bytes: file.size })),
  );
  return problem && `attachments: ${problem.text}`;
};
