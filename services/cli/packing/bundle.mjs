// Part of `npm pack`: the packages of `bundledWhenPacked` come in our tarball, as our `overrides` count for nobody who installs it. They are
// named only while npm packs: with `bundleDependencies` in a clone, npm 11 takes minutes to compute what belongs to a bundle.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../../../package.json', import.meta.url);
const { bundleDependencies: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
const packed = process.argv[2] === 'on' ? { ...manifest, bundleDependencies: manifest.bundledWhenPacked } : manifest;
writeFileSync(file, `${JSON.stringify(packed, null, 2)}\n`);
