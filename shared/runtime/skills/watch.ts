import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import { limits } from '../../kit/limits.ts';
import { isWithin, realOf } from './folder.ts';

export interface WatchOptions {
  /** Folders of skills; one that is not there yet may come. */
  readonly places: readonly string[];
  readonly debounceMs: number;
  /** After a rest: the skills' folders that may have changed, or `null` when it may be any. */
  changed(folders: ReadonlySet<string> | null): void;
  /** From now on nothing more is heard. */
  failed(error: unknown): void;
}

/** Rests to wait for one: what never comes to rest must not keep all others from being heard. */
const mostRests = 10;

/** Watches folders of skills until it is closed (A15/165). Resolves when it listens. */
export const watchSkills = async ({ places, debounceMs, changed, failed }: WatchOptions): Promise<{ close(): Promise<void> }> => {
  let watched = watchedNow(places);
  const concerns = (path: string): boolean =>
    watched.some(({ place, real }) => [place, real].some((folder) => isWithin(folder, path) || isWithin(path, folder)));
  const anchors = new Set(anchorsOf(watched));
  const watcher = watch([...anchors], {
    ignored: (path) => !concerns(path),
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
    persistent: false,
    depth: limits.skillDepth + 4,
  });
  let timer: NodeJS.Timeout | undefined;
  let folders: Set<string> | null = new Set();
  /** When the first of the changes came that are not told yet. */
  let since: number | null = null;
  const tell = (): void => {
    const heard = folders;
    since = null;
    folders = new Set();
    changed(heard);
  };
  watcher.on('all', (_, path) => {
    const folder = folderOf(watched, path);
    if (folder === null) {
      folders = null;
      // A place that is a link may lead elsewhere now.
      watched = watchedNow(places);
      for (const anchor of anchorsOf(watched)) {
        if (!anchors.has(anchor)) watcher.add(anchor);
        anchors.add(anchor);
      }
    } else folders?.add(folder);
    clearTimeout(timer);
    since ??= performance.now();
    timer = setTimeout(tell, Math.min(debounceMs, since + mostRests * debounceMs - performance.now()));
    timer.unref();
  });
  watcher.on('error', failed);
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return {
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
};

/** The place itself, or the folder above it that is there: what is missing may be made. */
const anchorOf = (place: string): string => (existsSync(place) || dirname(place) === place ? place : anchorOf(dirname(place)));

interface WatchedPlace {
  readonly place: string;
  /** Where it is, if it is a link: links are not followed. */
  readonly real: string;
}
const watchedNow = (places: readonly string[]): WatchedPlace[] =>
  places.map((place) => {
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink();
    return { place, real: (isLink && realOf(place)) || place };
  });

const anchorsOf = (watched: readonly WatchedPlace[]): string[] =>
  watched.flatMap(({ place, real }) => [anchorOf(place), anchorOf(real)]);

/** The folder of the skill that a path belongs to. `null`: it is a place, or above one. */
const folderOf = (watched: readonly WatchedPlace[], path: string): string | null => {
  for (const { place, real } of watched) {
    const top = [place, real].find((folder) => path !== folder && isWithin(folder, path));
    const [name] = top === undefined ? [] : relative(top, path).split(sep);
    if (name !== undefined) return join(place, name);
  }
  return null;
};
