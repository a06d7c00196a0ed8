import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { listFolder, readListed } from '../../../shared/runtime/skills/folder.ts';
import type { BundleFile } from './registry.ts';

/** A skill as registries see it (A15/164): its text files, except hidden ones and those in `node_modules`. */

const textEndings = new Set(
  'md mdx txt json json5 yaml yml toml ini cfg env csv xml html css scss sass svg js cjs mjs ts tsx jsx py sh rb go rs swift kt java cs cpp c h hpp sql'
    .split(' ')
    .map((ending) => `.${ending}`),
);
/** The file that a registry adds to the archives it sends. */
export const addedFile = '_meta.json';
const isLeftOut = (path: string): boolean =>
  path === addedFile || path.split('/').some((part) => part.startsWith('.') || part === 'node_modules');
const isText = (path: string): boolean => textEndings.has(extname(basename(path)).toLowerCase());

/** The files to publish. Throws `invalid` for a folder that is not a skill. */
export const bundleOf = (folder: string): BundleFile[] =>
  [...readListed(folder, listFolder(folder)).files].flatMap(([path, bytes]) =>
    !isLeftOut(path) && isText(path) ? [{ path, bytes }] : [],
  );

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');

/**
 * The fingerprint by which a registry's `resolve` finds a version: the SHA-256 of the lines `path:sha256`, one per file, in the
 * order of the paths.
 */
export const fingerprintOf = (folder: string): string => fingerprint(bundleOf(folder));

export const fingerprint = (files: readonly BundleFile[]): string =>
  sha256(
    files
      .toSorted((one, other) => one.path.localeCompare(other.path))
      .map(({ path, bytes }) => `${path}:${sha256(bytes)}`)
      .join('\n'),
  );
