import JSON5 from 'json5';
import { describe, expect, test } from 'vitest';
import { effects } from '../../../../shared/domain/config/effects.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { configFields, schemaTree } from '../../../../shared/domain/config/schema-text.ts';
import { configurationMarkdown } from '../../../support/docs/config-docs.ts';

describe('docs/use/configuration.md (A14/140, 141)', () => {
  test('is what the schema says', async () => {
    await expect(configurationMarkdown()).toMatchFileSnapshot(
      new URL('../../../../docs/use/configuration.md', import.meta.url).pathname,
    );
  });

  test('tells of every key what it does, and of no other', () => {
    const paths = configFields(schemaTree()).map(({ path }) => path);
    expect(Object.keys(effects).sort()).toEqual(paths.sort());
    expect(Object.values(effects).filter((effect) => !effect.endsWith('.'))).toEqual([]);
  });

  test('has a type for every key', () => expect(configurationMarkdown()).not.toMatch(/undefined|anything/));

  test('has an example that can be used', () => {
    const example = /```json5\n([\s\S]*?)```/.exec(configurationMarkdown())?.[1] ?? '';
    expect(configSchema.parse(JSON5.parse(example)).session.dmScope).toBe('per-channel-peer');
  });
});
