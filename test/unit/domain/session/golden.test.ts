import { describe, expect, test } from 'vitest';
import { eventTypes } from '../../../../shared/domain/session/events.ts';
import {
  corpus,
  goldenFields,
  goldenText,
  hashOf,
  pathOf,
  readCommits,
  replay,
  versionOf,
} from '../../../support/domain/golden.ts';

describe('histories of every released event version', () => {
  test.each([...eventTypes, ...goldenFields])(
    '%s has a file for its current version; a missing one is written here and fails in CI',
    async (type) => {
      await expect(goldenText(type)).toMatchFileSnapshot(pathOf(type));
    },
  );

  test.each(corpus().map((golden) => [golden.name, golden] as const))(
    '%s folds to the state it had when it was recorded',
    (_, golden) => {
      // What later versions remember besides is not in the file.
      expect(replay(golden)).toMatchObject(golden.state);
      expect(hashOf(golden.state), 'the file is as it was written').toBe(golden.sha256);
    },
  );

  test('each file has the event it is named after, in its current version', () => {
    for (const type of eventTypes) {
      const events = corpus()
        .filter(({ name }) => name === type)
        .flatMap(readCommits)
        .flatMap((commit) => commit.events);
      expect(
        events.some((event) => event.type === type && event.v === versionOf(type)),
        type,
      ).toBe(true);
    }
  });

  test('a change of the fold would be noticed', () => {
    const golden = corpus().find(({ name }) => name === 'turn_resumed');
    if (golden === undefined) throw new Error('no golden file');
    const { state } = golden;
    expect(hashOf({ ...state, context: { ...state.context, epoch: state.context.epoch + 1 } })).not.toBe(golden.sha256);
  });
});
