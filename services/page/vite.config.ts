import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const site = here('../../dist/services/page/site');
/** Smaller files gain nothing. */
const worthBytes = 512;

/** What the first load needs whatever the view is. */
const base = [
  'page/(base|parts|finding|loading|deliveries)/',
  'page/(chat/(failed|mark-texts|reset-button)|past/left-behind|files/file-words|palette/open|shortcuts/choice|sessions/session-list|approvals/approval-list)\\.tsx?',
  'shared/(client|kit/text)/',
  'shared/domain/(keys/session-key|memory/memory-session|routing/chat-help|values/(expiry|fork-base|media-type|silence|types))\\.ts',
  'node_modules/@?preact',
].join('|');

/** Puts a `.br` and a `.gz` beside each text file, so that the gateway compresses nothing. */
const compressed = (): Plugin => ({
  name: 'natter-compressed',
  closeBundle() {
    const texts = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(html|js|css|svg)$/.test(name));
    for (const path of texts.map((name) => join(site, name))) {
      const plain = readFileSync(path);
      if (plain.byteLength < worthBytes) continue;
      writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
      writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
    }
  },
});

/** The page. The fold of the domain runs in it as it is; what it needs of Node and of zod has a stand-in (`fold/`). */
export default defineConfig({
  root: here('.'),
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  // Production, whatever NODE_ENV is (a test runner sets it to `test`): else paths of the machine that builds it are in the page.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  resolve: {
    conditions: ['module', 'browser', 'production'],
    alias: { zod: here('fold/no-schemas.ts'), 'node:crypto': here('fold/sha256.ts') },
  },
  plugins: [compressed()],
  build: {
    outDir: site,
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
    // What every view needs is one file: the first load is to be a few requests.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'base', test: new RegExp(base) }] } } },
  },
});
