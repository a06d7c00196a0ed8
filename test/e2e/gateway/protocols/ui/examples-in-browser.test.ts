import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumPath, launchBrowser } from '../../page/browser.ts';
import { afterwards } from '../../setup.ts';

/**
 * The pages of docs/examples/ui in a browser, on an origin of their own, at a `natter up` with the offline model. Preact stands for React, and
 * the client's own chat with a hook around it for `@ai-sdk/react`.
 */

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const path = chromiumPath();

const standIns = {
  'ui.ts': `import { createElement, render } from 'preact';
    import { NatterChat } from './use-chat.tsx';
    render(createElement(NatterChat, { id: 'page', token: sessionStorage.getItem('natter') }), document.body);`,
  // As test/support/docs/use-chat.d.ts says, which has what the package's own declarations have.
  'hook.ts': `import { useReducer, useState } from 'preact/hooks';
    import { Chat } from '${join(root, 'test/support/docs/chat.ts')}';
    export const useChat = (init) => {
      const [, render] = useReducer((count) => count + 1, 0);
      const [chat] = useState(() => new Chat(init, () => render()));
      const { messages, status, error, sendMessage, addToolApprovalResponse, resumeStream } = chat;
      const setMessages = (messages) => Object.assign(chat, { messages });
      return { messages, status, error, sendMessage, addToolApprovalResponse, resumeStream, setMessages };
    };`,
};

/** The two pages, bundled, for a gateway. */
const bundled = async (gateway: string): Promise<Map<string, string>> => {
  const place = mkdtempSync(join(root, 'node_modules/.natter-pages-'));
  try {
    for (const file of ['agui.ts', 'use-chat.tsx']) {
      const text = readFileSync(join(root, 'docs/examples/ui', file), 'utf8');
      writeFileSync(join(place, file), text.replaceAll('http://127.0.0.1:4600', gateway));
    }
    for (const [file, text] of Object.entries(standIns)) writeFileSync(join(place, file), text);
    const alias = { react: join(root, 'node_modules/preact/hooks'), '@ai-sdk/react': join(place, 'hook.ts') };
    const { output } = (await build({
      ...{ root: place, configFile: false, logLevel: 'error', resolve: { alias } },
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      build: {
        ...{ write: false, minify: false, modulePreload: false, reportCompressedSize: false },
        rolldownOptions: {
          input: [join(place, 'agui.ts'), join(place, 'ui.ts')],
          output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
        },
      },
    })) as Rolldown.RolldownOutput;
    return new Map(output.flatMap((file) => (file.type === 'chunk' ? [[`/${file.fileName}`, file.code]] : [])));
  } finally {
    rmSync(place, { recursive: true });
  }
};

/** A site with a page for each script: `/agui`, `/ui`. */
const openSite = async () => {
  let scripts: ReadonlyMap<string, string> = new Map();
  const site = createServer(({ url = '' }, response) => {
    const script = scripts.get(url);
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
    response.end(script ?? `<!doctype html><body><main></main><script type="module" src="${url}.js"></script>`);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  return {
    origin: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    has: (given: ReadonlyMap<string, string>) => {
      scripts = given;
    },
    close: () => site.close(),
  };
};

const startUp = async (home: string, origin: string) => {
  const config = {
    agent: { workspace: join(home, 'workspace') },
    tools: { rules: [{ tool: 'write_file', action: 'ask' }] },
    gateway: { allowedOrigins: [origin] },
  };
  writeFileSync(join(home, 'natter.json'), JSON.stringify(config));
  const up = spawn('node', [join(root, 'dist/services/cli/main.js'), 'up', '--no-chat', '--port', '0'], {
    env: { ...process.env, NATTER_DATA_DIR: home, NATTER_CONFIG: join(home, 'natter.json') },
    stdio: 'ignore',
  });
  const ended = once(up, 'exit');
  const close = async (): Promise<void> => {
    up.kill();
    await ended;
  };
  const found = async () => {
    const { url, token } = JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8')) as { url: string; token: string };
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    return { url, token, close };
  };
  return vi.waitFor(found, { timeout: 60_000, interval: 100 }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
};

describe.skipIf(path === null)('in a browser', () => {
  const home = mkdtempSync(join(tmpdir(), 'natter-examples-'));
  let site: Awaited<ReturnType<typeof openSite>>;
  let up: Awaited<ReturnType<typeof startUp>>;
  let browser: Browser;
  beforeAll(async () => {
    site = await openSite();
    [up, browser] = await Promise.all([startUp(home, site.origin), launchBrowser(path ?? '')]);
    site.has(await bundled(up.url));
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await up?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const open = async (name: string): Promise<{ page: Page; faults: string[] }> => {
    const page = await browser.newPage();
    afterwards(() => page.close());
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    await page.addInitScript(`sessionStorage.setItem('natter', ${JSON.stringify(up.token)})`);
    await page.goto(`${site.origin}${name}`);
    return { page, faults };
  };
  /** Once the answer before it has ended: until then neither page sends anything. */
  const say = async (page: Page, text: string): Promise<void> => {
    await page.locator('form:not([inert]):not(:has(:disabled)) input').fill(text);
    await page.keyboard.press('Enter');
  };
  const items = (page: Page): Promise<string[]> => page.locator('li').allTextContents();
  const writing = (content: string): string => `[[tool write_file {"path":"note.md","content":"${content}"}]]`;
  const soon = { timeout: 30_000 };

  test('agui.ts: an answer, an approval by a dialog, and the same after a reload', async () => {
    const { page, faults } = await open('/agui');
    const asked: string[] = [];
    const verdicts = [true, false];
    page.on('dialog', async (dialog) => {
      asked.push(dialog.message());
      await (verdicts.shift() ? dialog.accept() : dialog.dismiss());
    });
    await say(page, 'hello');
    await expect.poll(() => items(page), soon).toEqual(['user: hello', 'assistant: You said: hello']);
    await say(page, `${writing('milk')} shopping`);
    await expect
      .poll(async () => (await items(page)).at(-1), soon)
      .toMatch(/^assistant: You said: shopping\s+write_file → wrote/);
    await say(page, `${writing('beer')} more`);
    await expect.poll(async () => (await items(page)).at(-1), soon).toMatch(/^assistant: You said: more\s+write_file → denied/);
    expect(asked).toEqual([expect.stringContaining('note.md'), expect.stringContaining('note.md')]);
    expect(readFileSync(join(home, 'workspace/note.md'), 'utf8')).toBe('milk');
    const before = await items(page);
    await page.reload();
    await expect.poll(() => items(page), soon).toEqual(before);
    expect(faults).toEqual([]);
  });

  test('use-chat.tsx: an answer, an approval that is answered after a reload, and an error', async () => {
    const { page, faults } = await open('/ui');
    await say(page, 'hello');
    await expect.poll(() => items(page), soon).toEqual(['hello', 'You said: hello']);
    await say(page, `${writing('tea')} shopping`);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await page.reload();
    await page.locator('li', { hasText: 'note.md' }).getByRole('button', { name: 'Allow' }).click();
    await expect.poll(async () => (await items(page)).at(-1), soon).toMatch(/You said: shopping\s+write_file → wrote/);
    expect(readFileSync(join(home, 'workspace/note.md'), 'utf8')).toBe('tea');
    await say(page, `${writing('beer')} more`);
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(async () => (await items(page)).at(-1), soon).toMatch(/You said: more\s+write_file → denied/);
    expect(await page.getByRole('alert').count()).toBe(0);
    await say(page, '[[fail busy]] now');
    await page.getByRole('alert').waitFor();
    expect(faults).toEqual([]);
  });
});
