import { expect, onTestFinished, test, vi } from 'vitest';
import { optionsOf } from '../../bench/options.ts';

const options = {
  seeds: { type: 'string', default: '7' },
  out: { type: 'string' },
  keep: { type: 'boolean', default: false },
} as const;
const usage = 'Usage: npm run it -- [--seeds 7] [--out …] [--keep]\n';

/** What a command with these arguments prints, and how it ends. */
const ended = (...args: string[]) => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`ended with ${code}`);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect(() => optionsOf('npm run it --', options, args)).toThrow(/^ended with/);
  return { code: exit.mock.calls[0]?.[0], out: out.mock.calls.join(), err: err.mock.calls.join() };
};

test('a command of the tests takes its options, and has a default for each', () => {
  expect(optionsOf('npm run it --', options, ['--out', 'x', '--keep'])).toEqual({ seeds: '7', out: 'x', keep: true });
});

test('--help prints how it is called', () => {
  expect(ended('--help')).toEqual({ code: 0, out: usage, err: '' });
});

test('an option that it does not have is named, with those that it has', () => {
  expect(ended('--seed', '3')).toEqual({ code: 2, out: '', err: expect.stringMatching(/^Unknown option '--seed'/) });
  expect(ended('--seed').err).toContain(usage);
});
