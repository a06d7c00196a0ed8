import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import { limits } from '../../kit/limits.ts';
import { isWithin, realOf } from './folder.ts';

export interface WatchOptions {
  /** Folders with skills; they need not exist yet. */
  readonly places: readonly string[];
  readonly debounceMs: number;
  /** Called once the changes settle: with the skill folders that may have changed, or `null` if any may have. */
  changed(folders: ReadonlySet<string> | null): void;
  /** From now on no changes are reported. */
  failed(error: unknown): void;
}

/** Maximum number of debounce periods: continuous changes must not delay all others for ever. */
const mostRests = 10;

/** Watches skill folders until it is closed (A15/165). Resolves once it is watching. */
export const watchSkills = async ({ places, debounceMs, changed, failed }: WatchOptions): Promise<{ close(): Promise<void> }> => {
  let watched = watchedNow(places);
  const concerns = (path: string): boolean =>
    watched.some(({ place, real }) => [place, real].some((folder) => isWithin(folder, path) || isWithin(path, folder)));
  const anchors = new Set(anchorsOf(watched));
  const watcher = watch([...anchors], {
    ignored: (path) => !concerns(path),
    // What is added later is then told once it is watched: a change between the look at a file and its watch is read.
    ignoreInitial: false,
    followSymlinks: false,
    ignorePermissionErrors: true,
    persistent: false,
    depth: limits.skillDepth + 4,
  });
  let timer: NodeJS.Timeout | undefined;
  let folders: Set<string> | null = new Set();
  /** The time of the first unreported change. */
  let since: number | null = null;
  const tell = (): void => {
    const heard = folders;
    since = null;
    folders = new Set();
    changed(heard);
  };
  let isWatching = false;
  watcher.on('all', (_, path) => {
    if (!isWatching) return;
    const folder = folderOf(watched, path);
    if (folder === null) {
      folders = null;
      // A root that is a link may point elsewhere now.
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
  isWatching = true;
  return {
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
};

/** The folder itself, or the nearest existing folder above it, so that its creation is noticed. */
const anchorOf = (place: string): string => (existsSync(place) || dirname(place) === place ? place : anchorOf(dirname(place)));

interface WatchedPlace {
  readonly place: string;
  /** The real path if it is a link, since links are not followed. */
  readonly real: string;
}
const watchedNow = (places: readonly string[]): WatchedPlace[] =>
  places.map((place) => {
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink();
    return { place, real: (isLink && realOf(place)) || place };
  });

const anchorsOf = (watched: readonly WatchedPlace[]): string[] =>
  watched.flatMap(({ place, real }) => [anchorOf(place), anchorOf(real)]);

/** The skill folder that a path belongs to; `null` if the path is a root or above one. */
const folderOf = (watched: readonly WatchedPlace[], path: string): string | null => {
  for (const { place, real } of watched) {
    const top = [place, real].find((folder) => path !== folder && isWithin(folder, path));
    const [name] = top === undefined ? [] : relative(top, path).split(sep);
    if (name !== undefined) return join(place, name);
  }
  return null;
};
