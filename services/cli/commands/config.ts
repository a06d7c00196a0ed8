import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import pc from 'picocolors';
import {
  adviceOn,
  childOf,
  configJsonSchema,
  type SchemaNode,
  schemaTree,
  withoutSecrets,
} from '../../../shared/domain/config/schema-text.ts';
import { dangers } from '../../../shared/domain/routing/dm-safety.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { scrubber } from '../../../shared/kit/scrub.ts';
import { configFileOf, loadConfig, secretsOf } from '../../../shared/runtime/config/load.ts';
import { type CommonOptions, configOf, sourceOf } from '../access.ts';
import { asJson, type World } from '../terminal.ts';

/** `natter config validate`, `schema` and `get` (A14/140). */
export const configCommand = (program: Command, world: World): void => {
  const config = program.command('config').description('the configuration: check it, explain it, read it');

  config
    .command('validate')
    .argument('[file]', 'the file to check; without it the one that would be used')
    .description('say what is wrong with a configuration, with line and mend; exit code 2 if it cannot be used')
    .action((file: string | undefined, _: unknown, command: Command) => {
      const common = command.optsWithGlobals<CommonOptions>();
      validate(world, file === undefined ? common : { ...common, config: file });
    });

  config
    .command('schema')
    .description('print the JSON Schema of the file, with what each key does')
    .action(() => world.terminal.out(asJson(configJsonSchema(), 2)));

  config
    .command('get')
    .argument('[path]', 'such as session.dmScope; without it everything')
    .option('--json', 'as JSON')
    .description('print a value as it is in force: file, environment, defaults; secrets are hidden')
    .action((path: string | undefined, _: unknown, command: Command) => {
      const { json, ...common } = command.optsWithGlobals<CommonOptions & { json?: boolean }>();
      const value = valueAt(world, common, path);
      if (value === undefined && !json) {
        world.terminal.note(`${path} is not set`);
        process.exitCode = 1;
        return;
      }
      world.terminal.out(json || typeof value !== 'string' ? asJson(value ?? null, 2) : value);
    });
};

const validate = (world: World, options: CommonOptions): void => {
  const source = sourceOf(world, options);
  const { path } = configFileOf(source);
  const config = loadConfig(source);
  world.terminal.out(`${pc.green('well')}    ${existsSync(path) ? path : `${path} is not there, every key has its default`}`);
  for (const danger of dangers(config)) world.terminal.out(`${pc.red('danger')}  ${danger}`);
};

/** What is at a dotted path of the configuration in force, without secrets. Throws `NatterError('invalid')` for a key that cannot be. */
const valueAt = (world: World, options: CommonOptions, path: string | undefined): unknown => {
  const config = configOf(world, options);
  let value: unknown = withoutSecrets(config);
  let node: SchemaNode | undefined = schemaTree();
  const names = path === undefined ? [] : path.split('.');
  for (const [index, name] of names.entries()) {
    node = childOf(node, name);
    if (node === undefined)
      throw new NatterError(
        'invalid',
        `${path}: ${adviceOn(names.slice(0, index), name)}`,
        path === undefined ? {} : { field: path },
      );
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  }
  if (value === undefined) return undefined;
  // Addresses may have credentials in them, which no schema knows.
  return JSON.parse(scrubber(secretsOf(config, world.env))(JSON.stringify(value)));
};
