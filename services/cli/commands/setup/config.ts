import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import pc from 'picocolors';
import {
  adviceOn,
  childOf,
  configJsonSchema,
  type SchemaNode,
  schemaTree,
} from '../../../../shared/domain/config/schema-text.ts';
import { dangers } from '../../../../shared/domain/routing/dm-safety.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';
import { configFileOf, loadConfig } from '../../../../shared/runtime/config/load.ts';
import { shownConfig } from '../../../../shared/runtime/config/shown.ts';
import { asRunning, type CommonOptions, configOf, sourceOf } from '../../access.ts';
import { example } from '../../example.ts';
import { asJson, type World } from '../../terminal.ts';

/** `natter config validate`, `schema` and `get` (A14/140). */
export const configCommand = (program: Command, world: World): void => {
  const config = program.command('config').addHelpText('after', example('config validate'));

  config
    .command('validate')
    .argument('[file]', 'file to check (default: the one in use)')
    .description('check a configuration file; errors come with the line and a fix; exit code 2 if it is invalid')
    .addHelpText('after', example('config validate natter.json'))
    .action((file: string | undefined, _: unknown, command: Command) => {
      const common = command.optsWithGlobals<CommonOptions>();
      return validate(world, file === undefined ? common : { ...common, config: file });
    });

  config
    .command('schema')
    .description('print the JSON Schema of the file, with a description of each key')
    .addHelpText('after', example('config schema'))
    .action(() => world.terminal.out(asJson(configJsonSchema(), 2)));

  config
    .command('get')
    .argument('[path]', 'path such as session.dmScope (default: everything)')
    .option('--json', 'print JSON')
    .description('print the value in force, from file, environment and defaults; secrets are hidden')
    .addHelpText('after', example('config get session.dmScope'))
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

/** As strict as a start: what `natter up` would refuse is refused here. */
const validate = async (world: World, options: CommonOptions): Promise<void> => {
  const source = sourceOf(world, options);
  const { path } = configFileOf(source);
  const config = loadConfig(source);
  // Loaded on demand: the services are most of the program.
  const [{ refuseUnstartable }, { namedModel }] = await Promise.all([
    import('../../init/startable.ts'),
    import('../../init/named-model.ts'),
  ]);
  refuseUnstartable(config, world.env);
  world.terminal.out(
    `${pc.green('valid')}   ${existsSync(path) ? path : `${path} does not exist; all keys have their defaults`}`,
  );
  const { host, port } = asRunning(config).gateway;
  const next =
    port === config.gateway.port ? '' : ` (in use; the next start takes ${config.gateway.port} unless --port says otherwise)`;
  world.terminal.out(`address http://${host}:${port}${next}`);
  world.terminal.out(`model   ${namedModel(config)}`);
  for (const danger of dangers(config)) world.terminal.out(`${pc.red('danger')}  ${danger}`);
};

/** The value at a dotted path of the configuration in force, without secrets. Throws `NatterError('invalid')` for an unknown key. */
const valueAt = (world: World, options: CommonOptions, path: string | undefined): unknown => {
  let value = shownConfig(configOf(world, options), world.env);
  let node: SchemaNode | undefined = schemaTree();
  const names = path === undefined ? [] : path.split('.');
  for (const [index, name] of names.entries()) {
    node = childOf(node, name);
    if (node === undefined)
      throw new NatterError(
        'invalid',
        `${path}: ${adviceOn(names.slice(0, index), name, false)}`,
        path === undefined ? {} : { field: path },
      );
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  }
  return value;
};
