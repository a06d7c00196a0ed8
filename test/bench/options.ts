import { type ParseArgsConfig, parseArgs } from 'node:util';
import { errorMessage } from '../../shared/kit/errors.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** How a command is called: each option with its default. */
const usageOf = (command: string, options: Options): string => {
  const shown = Object.entries(options).map(([name, { type, default: usual }]) =>
    type === 'boolean' ? `[--${name}]` : `[--${name} ${usual ?? '…'}]`,
  );
  return `Usage: ${[command, ...shown].join(' ')}\n`;
};

/** The options of a command of the tests. With `--help`, or one that it does not have, it prints how it is called and ends. */
export const optionsOf = <const T extends Options>(
  command: string,
  options: T,
  args: readonly string[] = process.argv.slice(2),
) => {
  if (args.includes('--help')) {
    process.stdout.write(usageOf(command, options));
    process.exit(0);
  }
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n${usageOf(command, options)}`);
    process.exit(2);
  }
};
