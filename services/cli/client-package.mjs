// Part of `npm pack`: makes the client library a package of its own, in `dist/client`. Plain JavaScript without dependencies, as bootstrap.mjs.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Where the build is. */
const dist = process.argv[2] ?? join(root, 'dist');

/** The files that a built file needs, with itself, and the packages that they name. */
const closureOf = (first) => {
  const files = new Set();
  const packages = new Set();
  const visit = (path) => {
    if (files.has(path)) return;
    files.add(path);
    for (const [, from, dynamic] of readFileSync(path, 'utf8').matchAll(/from ['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)/g)) {
      const target = from ?? dynamic;
      if (!target.startsWith('.')) packages.add(target);
      else visit(join(dirname(path), path.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target));
    }
  };
  visit(first);
  return { files, packages };
};

/** `natter-client`, which `npm pack ./dist/client` packs: the files of `natter/client`, and of the dependencies only what they import. */
const writeClientPackage = () => {
  const { version, license, engines, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const description = 'The client library of Natter, the durable session runtime for chat agents';
  const folder = join(dist, 'client');
  rmSync(folder, { recursive: true, force: true });
  const parts = ['js', 'd.ts'].map((end) => closureOf(join(dist, 'shared', 'client', `main.${end}`)));
  for (const file of parts.flatMap(({ files }) => [...files])) {
    const copy = join(folder, relative(join(dist, 'shared'), file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
  const needed = [...new Set(parts.flatMap(({ packages }) => [...packages]))].sort();
  const manifest = {
    ...{ name: 'natter-client', version, description, license, type: 'module', engines },
    exports: { '.': { types: './client/main.d.ts', default: './client/main.js' } },
    dependencies: Object.fromEntries(needed.map((name) => [name, dependencies[name]])),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(
    join(folder, 'README.md'),
    `# natter-client\n\n${description}: see \`docs/integrate/client.md\` of the package \`natter\`.\n`,
  );
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
};

writeClientPackage();
