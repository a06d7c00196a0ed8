import { expect, test, vi } from 'vitest';
import { InMemoryKeyValue } from '../../../../shared/adapters/in-memory/kv-store.ts';
import { createSessionIndex } from '../../../../shared/adapters/kv/session-index.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import { indexRowCodec } from '../../../../shared/wire/records.ts';
import { commitTo, keyOf, recorded, userMessage } from '../../../support/domain/commits.ts';

const [same, older, newer] = [keyOf('agent:main:same'), keyOf('agent:main:older'), keyOf('agent:main:newer')];
const commitAt = (seq: number, key: typeof same, text: string) => recorded(commitTo(key, { events: [userMessage(text)] }), seq);

test('a stored row that goes no further than what was folded is passed over unchecked, a newer one is taken', async () => {
  const index = createSessionIndex(new InMemoryKeyValue({ clock: systemClock }), systemClock);
  const view = await index.watch();
  for (const key of [same, older, newer]) view.take(commitAt(7, key, 'folded'));
  const decode = vi.spyOn(indexRowCodec, 'decode');
  const rows = [commitAt(7, same, 'stored'), commitAt(6, older, 'stored'), commitAt(8, newer, 'stored')];
  await index.put(
    rows.map((commit) => summarize(null, commit)),
    8,
  );
  const preview = (key: typeof same) => view.get(key)?.lastMessagePreview;
  await vi.waitFor(() => expect(preview(newer)).toBe('stored'), { timeout: 10_000 });
  expect([preview(same), preview(older)]).toEqual(['folded', 'folded']);
  expect(decode).toHaveBeenCalledOnce();
  await view.close();
});
