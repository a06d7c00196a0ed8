import { expect, test } from 'vitest';
import { eventTypes } from '../../../../shared/domain/session/events.ts';
import { eventsMarkdown, machineMarkdown } from '../../../support/docs/generate-docs.ts';

const committed = (name: string): string => new URL(`../../../../docs/${name}`, import.meta.url).pathname;

test('docs/integrate/events.md is what the schemas say', async () => {
  await expect(eventsMarkdown()).toMatchFileSnapshot(committed('integrate/events.md'));
  for (const type of eventTypes) expect(eventsMarkdown()).toContain(`\n## ${type}\n`);
});

test('docs/develop/machine.md is what the machine says', async () => {
  await expect(machineMarkdown()).toMatchFileSnapshot(committed('develop/machine.md'));
});
