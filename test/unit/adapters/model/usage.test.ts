import { expect, test } from 'vitest';
import { stepOutcome } from '../../../../shared/domain/values/types.ts';
import { stream } from '../../../support/provider-server.ts';
import { dialects, provide, take } from './rig.ts';

/** I11: the counts of a session are sums of what providers say. */
const most = Number.MAX_SAFE_INTEGER;

test.each(dialects.flatMap(([name, dialect]) => [most, 2 ** 53, 1e300, 1e10].map((count) => ({ name, dialect, count }))))(
  'I11: a $name provider that says $count tokens is not believed',
  async ({ dialect, count }) => {
    const { begin, text, end } = dialect;
    const usage = { input: count, output: count, cost: 1e308 };
    const { outcome } = await take(dialect, await provide(stream(begin(), text('hello'), end('stop', usage))));
    expect(outcome).toMatchObject({ kind: 'reply', text: 'hello', usage: { estimated: true } });
    expect(stepOutcome.safeParse(outcome).error).toBeUndefined();
    expect(outcome).not.toHaveProperty('usage.costUsd');
  },
);
