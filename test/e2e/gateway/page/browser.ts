import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The path of a Chromium in the `PATH`; `null` without one (on Debian: apt-get install chromium). */
export const chromiumPath = (): string | null => {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)));
  const isProgram = (path: string): boolean => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return paths.find(isProgram) ?? null;
};

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];

export const launchBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...quiet, '--disable-component-update', '--disable-sync'] });

/** What a page did that it must not do: reports of its policy, errors, and requests to elsewhere. */
export interface Watched {
  readonly page: Page;
  readonly faults: string[];
}

/** Opens a page and notes every fault in it. Lost connections, which a test may want, are none. */
export const openPage = async (
  browser: Browser,
  given: { readonly width: number; readonly colorScheme?: 'light' | 'dark'; readonly origin: string },
): Promise<Watched> => {
  const { width, colorScheme = 'light', origin } = given;
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      faults.push(`request: ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.text().startsWith('CSP ')) faults.push(message.text());
  });
  await page.addInitScript(() => {
    const target = globalThis as unknown as { addEventListener(type: string, listener: (event: never) => void): void };
    target.addEventListener(
      'securitypolicyviolation',
      (event: { violatedDirective: string; blockedURI: string; sample: string }) =>
        console.log(`CSP ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  return { page, faults };
};

/** What the page at an address, which signs it in, shows of the first question under Approvals; `null`: there is no Chromium here. */
export const questionAt = async (address: string): Promise<string | null> => {
  const path = chromiumPath();
  if (path === null) return null;
  const browser = await launchBrowser(path);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(address);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Approvals' }).click();
    return await page
      .getByRole('article', { name: /^Approval: / })
      .first()
      .textContent();
  } finally {
    await browser.close();
  }
};

/** What axe finds wrong, as lines. Axe is put in by the browser itself, past the policy of the page. */
export const axeFindings = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    interface Finding {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
    }
    const put = globalThis as unknown as { axe: { run(): Promise<{ violations: readonly Finding[] }> } };
    const { violations } = await put.axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
    );
  });
};
