import { describe, expect, test, vi } from 'vitest';
import { axeFindings } from './browser.ts';
import { goTo, hasBrowser, usePage } from './use-page.ts';

/** The page by the keyboard alone. */

/** The body of the page: the project is compiled without the types of the DOM. */
interface Listening {
  readonly classList: { add(name: string): void };
  addEventListener(type: 'focusin', listen: (event: { readonly target: { readonly tagName: string } }) => void): void;
}

describe.skipIf(!hasBrowser)('the keys of the page', () => {
  const deep = 'agent:main:deep';
  const { open } = usePage({}, async ({ client: { sessions } }) => {
    for (const key of [deep, ...Array.from({ length: 30 }, (_, at) => `agent:main:row-${at}`)])
      await sessions.append(key, 'hello');
    for (const name of ['older', 'newer']) await sessions.post(`agent:main:${name}`, `hello ${name}`, { wait: 30 });
  });

  test.each([
    ['light', 1_000],
    ['dark', 390],
  ] as const)('are listed by one of them, which axe finds nothing wrong with: %s, %d px', async (scheme, width) => {
    const { page, faults } = await open(width, scheme);
    await page.locator('a.row').first().waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.getByText('Go to the approvals').waitFor();
    await list.getByRole('heading', { name: 'In the time machine' }).waitFor();
    await list.getByText('To the beginning, to the newest commit').waitFor();
    await list.getByText('From event to event in their list').waitFor();
    await list.locator('button:focus', { hasText: 'Close' }).waitFor();
    await page.setViewportSize({ width, height: 500 });
    for (const part of [list.getByRole('heading', { name: 'Keyboard shortcuts' }), list.getByRole('button', { name: 'Close' })])
      await vi.waitFor(async () => {
        const { y = -1, height = 0 } = (await part.boundingBox()) ?? {};
        expect([y > 0, y + height < 500]).toEqual([true, true]);
      });
    expect(await axeFindings(page)).toEqual([]);
    // None of them does anything below the list.
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).not.toContain('newer');
    expect(faults).toEqual([]);
  });

  test('lead to every place, from session to session, and into the fields; typed in a field they are text', async () => {
    const { page, faults } = await open();
    await page.locator('a.row').first().waitFor();
    const { keyboard } = page;
    await keyboard.press('j');
    await page.getByRole('heading', { name: 'newer' }).waitFor();
    await keyboard.press('j');
    await page.getByRole('heading', { name: 'older' }).waitFor();
    // The focus goes along, so that Enter and Tab go on from the row that is open.
    await page.locator('a.row-open:focus', { hasText: 'older' }).waitFor();
    await keyboard.press('k');
    await page.getByRole('heading', { name: 'newer' }).waitFor();
    await page.locator('a.row-open:focus', { hasText: 'newer' }).waitFor();
    await keyboard.press('m');
    await page.locator('.composer textarea:focus').waitFor();
    await keyboard.type('jk g a ?/m');
    expect(await page.locator('.composer textarea').inputValue()).toBe('jk g a ?/m');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await keyboard.press('Escape');
    await page.locator('.messages:focus').waitFor();
    await page.getByRole('button', { name: 'Skip to the session' }).press('Enter');
    await page.locator('.tabs a:focus').waitFor();
    await page.getByRole('link', { name: 'Time machine' }).press('Enter');
    await page.locator('.live-on').waitFor();
    await keyboard.press('m');
    await page.locator('.composer textarea:focus').waitFor();
    // Whoever has written there and goes from session to session writes nothing.
    await keyboard.press('Escape');
    await keyboard.press('j');
    await page.getByRole('heading', { name: 'older' }).waitFor();
    await page.locator('a.row-open:focus', { hasText: 'older' }).waitFor();
    const body = page.locator('body');
    await body.evaluate((element: Listening) =>
      element.addEventListener('focusin', ({ target }) => element.classList.add(`focused-${target.tagName}`)),
    );
    await keyboard.press('k');
    await page.getByRole('heading', { name: 'newer' }).waitFor();
    await page.locator('a.row-open:focus', { hasText: 'newer' }).waitFor();
    expect(await body.getAttribute('class')).toBe('focused-A');
    await page.getByRole('link', { name: 'Chat', exact: true }).focus();
    for (const [second, title] of [
      ['a', 'Approvals'],
      ['e', 'Events'],
      ['y', 'System'],
      ['u', 'You'],
    ] as const) {
      await keyboard.press('g');
      await keyboard.press(second);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await page.locator(second === 'e' ? '.event-rows:focus' : '#main:focus').waitFor();
      if (second !== 'e') continue;
      await keyboard.press('ArrowDown');
      await page.locator('.event-chosen:focus').waitFor();
      // The list is one stop of the Tab key.
      expect(await page.locator('.event-rows [tabindex="0"]').count()).toBe(1);
      await keyboard.press('Enter');
      await page.locator('.event-detail:focus').waitFor();
    }
    await keyboard.press('/');
    await page.locator('.search input:focus').waitFor();
    await keyboard.type('older');
    await page.getByRole('link', { name: 'You', exact: true }).press('Enter');
    await keyboard.press('g');
    await keyboard.press('s');
    await page.locator('a.row').first().waitFor();
    expect(faults).toEqual([]);
  });

  test.each([
    [1_000, 'a.row-open:focus', 'row-0'],
    [390, '.session .tabs a:focus', 'Chat'],
  ])('lead on from a session whose row is not drawn, with the focus: %d px', async (width, selector, text) => {
    const { page, faults } = await open(width);
    await goTo(page, `#/sessions/${encodeURIComponent(deep)}/chat`);
    await page.getByRole('heading', { name: 'deep', exact: true }).waitFor();
    await page.locator('a.row').first().waitFor({ state: 'attached' });
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'row-0', exact: true }).waitFor();
    await page.locator(selector, { hasText: text }).waitFor();
    expect(faults).toEqual([]);
  });

  test('can be switched off, all but the one that lists them, and stay so', async () => {
    const { page, faults } = await open();
    await page.locator('a.row').first().waitFor();
    await page.keyboard.press('?');
    await page.getByLabel('Use keyboard shortcuts').press('Space');
    await page.keyboard.press('Escape');
    await page.reload();
    await page.locator('a.row').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.keyboard.press('?');
    expect(await page.getByLabel('Use keyboard shortcuts').isChecked()).toBe(false);
    expect(new URL(page.url()).hash).not.toMatch(/newer|account/);
    expect(faults).toEqual([]);
  });

  test.each([
    ['light', 1_000],
    ['dark', 390],
  ] as const)(
    'one of them goes anywhere by a few letters, and axe finds nothing wrong with it: %s, %d px',
    async (scheme, width) => {
      const { page, faults } = await open(width, scheme);
      await page.locator('a.row').first().waitFor();
      const { keyboard } = page;
      const field = page.getByRole('combobox', { name: 'A view, a session by its name, or what was said' });
      const goBy = async (letters: string, option: string): Promise<void> => {
        await keyboard.press('Control+k');
        await field.waitFor();
        await keyboard.type(letters);
        await page.getByRole('option', { name: option, selected: true }).waitFor();
        await keyboard.press('Enter');
        await field.waitFor({ state: 'detached' });
      };
      await goBy('dead', 'Dead letters');
      await page.getByRole('heading', { name: 'Dead letters' }).first().waitFor();
      await page.locator('#main:focus').waitFor();
      await goBy('old', 'older');
      await page.getByRole('heading', { name: 'older' }).waitFor();
      // Tab goes on in the session, not through the list.
      await page.locator('.session .tabs a[aria-current=page]:focus').waitFor();
      // From within a field too.
      await page.locator('.composer textarea').focus();
      await goBy('time', 'Time machine');
      await page.locator('.live-on').waitFor();
      expect(new URL(page.url()).hash).toContain('older');
      await keyboard.press('Control+k');
      await field.waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await keyboard.press('ArrowUp');
      await page
        .getByRole('option')
        .last()
        .and(page.getByRole('option', { selected: true }))
        .waitFor();
      await keyboard.type('zebra');
      await page.getByRole('option', { name: 'Search all messages for “zebra”', selected: true }).waitFor();
      await keyboard.press('Escape');
      await field.waitFor({ state: 'detached' });
      expect(new URL(page.url()).hash).toContain('older');
      expect(faults).toEqual([]);
    },
  );
});
