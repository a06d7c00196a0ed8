import { describe, expect, test, vi } from 'vitest';
import { type Asking, asks } from './access-asks.ts';
import type { Ask } from './access-callers.ts';
import { type GatewayRig, openGateway, secretOf } from './access-rig.ts';
import { type Row, rows } from './access-table.ts';
import { everywhere, type Place, soon } from './access-world.ts';

/**
 * The access matrix, every cell against the real server: the table says what is expected, `access-asks.ts` how each line is asked. It takes
 * long, so each part of it is a test file of its own: `access-matrix-1.test.ts` and so on.
 */

const askingOf = ({ title }: Row): Asking => asks[title]?.(title) as Asking;
/** A line of the table, and the gateway by which it is asked. */
export const questions = rows
  .filter(({ title }) => asks[title] !== undefined)
  .flatMap((row) => Object.keys(askingOf(row).interfaces).map((by) => [`${row.title} ${by}`.trim(), row, by] as const));

const usual: Readonly<Record<number, string>> = {
  403: 'forbidden',
  404: 'not_found',
  409: 'session_retained',
  412: 'precondition_failed',
};
/** What an answer is called; what is done has no such name. */
const codeFor = ({ codes }: Asking, cell: string, wanted: ReturnType<Row['cells'][number]['expected']>): string | undefined => {
  if (wanted === 'not there') return codes?.hidden ?? usual[404];
  return cell === '403' ? usual[403] : (codes?.[wanted] ?? usual[wanted]);
};

type PlaceOf = (letter: string, cell?: string) => Promise<Place>;
/** What there is to ask about, made when somebody asks for it first. */
const placesOf = (gateway: GatewayRig, row: Row): PlaceOf => {
  const made = new Map<string, Promise<Place>>();
  return (letter, cell = everywhere) => {
    const place = made.get(letter + cell) ?? askingOf(row).world.make(gateway, letter, cell);
    made.set(letter + cell, place);
    return place;
  };
};

/** Each caller asks about everything, one after the other. */
const askEach = async (gateway: GatewayRig, ask: Ask, row: Row, placeOf: PlaceOf): Promise<string[]> => {
  const asking = askingOf(row);
  const { letters } = asking.world;
  const changes = row.cells.some(({ name, cell }) => name === 'reader' && cell === '403');
  const wrong: string[] = [];
  const hidden = new Set<string>();
  for (const { name, cell, expected } of row.cells) {
    const ruledOut = new Set<string>();
    for (const letter of letters) {
      const wanted = expected(letter);
      // What is refused changes nothing, so others may ask about the same.
      const place = await placeOf(letter, changes && wanted === row.ok ? `c-${name.toLowerCase()}` : everywhere);
      const heard = await ask(gateway, secretOf(name), place);
      const isHidden = wanted === 'not there';
      if (heard.status !== (isHidden ? 404 : wanted) || heard.code !== codeFor(asking, cell, wanted))
        wrong.push(`${name} ${letter}: ${wanted}, not ${heard.status} ${heard.code} ${heard.bytes}`);
      if (isHidden) hidden.add(heard.bytes);
      if (cell === '403') ruledOut.add(heard.bytes);
    }
    if (ruledOut.size > 1) wrong.push(`${name}: not in the same words: ${[...ruledOut].join('\n')}`);
  }
  // What is somebody else's, what is gone and what never was get one and the same answer, whoever asks.
  if (hidden.size > 1) wrong.push(`not one answer: ${[...hidden].join('\n')}`);
  return wrong;
};

/** All see the same things, and each is shown their part of them. */
const showEach = async (gateway: GatewayRig, ask: Ask, row: Row, placeOf: PlaceOf): Promise<string[]> => {
  const { world, shows = () => [] } = askingOf(row);
  for (const letter of world.letters) await placeOf(letter);
  const place = await placeOf('a');
  const wrong: string[] = [];
  for (const { name, cell } of row.cells) {
    const wanted = [...cell.replace('-', '')].sort().join('');
    const look = async () => {
      const { status, body } = await ask(gateway, secretOf(name), place);
      const shown = [...new Set(status === row.ok ? shows(body) : [`${status}`])].sort().join('');
      expect(`${name} sees ${shown}`).toBe(`${name} sees ${wanted}`);
    };
    // Lists and streams are a moment behind the log.
    await vi.waitFor(look, soon).catch((error: Error) => wrong.push(error.message));
  }
  return wrong;
};

export const parts = 4;
/** Part 1 has the first question and each fourth after it, and so on: neighbours take about as long as each other. */
export const questionsOf = (part: number): typeof questions => questions.filter((_, index) => index % parts === part - 1);

/** The tests of one part. */
export const testPart = (part: number): void => {
  describe('access matrix', () => {
    test.each(questionsOf(part))('A8/89-90: %s', async (_, row, by) => {
      const gateway = await openGateway();
      const { shows, interfaces, world } = askingOf(row);
      const ask = interfaces[by] as Ask;
      const placeOf = placesOf(gateway, row);
      expect(await (shows ? showEach : askEach)(gateway, ask, row, placeOf)).toEqual([]);
      const heard = await ask(gateway, null, await placeOf(world.letters[0] as string));
      expect(heard).toMatchObject({ status: 401, code: expect.stringMatching(/^(unauthorized|invalid_api_key)$/) });
    });
  });
};
