import { effects } from '../../../shared/domain/config/effects.ts';
import { childOf, type SchemaNode, schemaTree } from '../../../shared/domain/config/schema-text.ts';
import type { Config as LoadedConfig } from '../../../shared/runtime/config/load.ts';
import { originsOf, sectionDigests } from '../../../shared/runtime/config/origins.ts';
import { takenAtOnce } from '../../../shared/runtime/config/reload.ts';
import { shownConfig } from '../../../shared/runtime/config/shown.ts';
import { ownersOnly } from '../context/access.ts';
import type { Call } from '../operation/operation.ts';

interface Key {
  readonly path: string;
  /** With `<name>` for names that people choose, as the effects are listed. */
  readonly general: string;
  readonly value: unknown;
}

const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** The keys that hold a value; a list is one value. */
const keysUnder = (value: unknown, node: SchemaNode | undefined, path = '', general = ''): Key[] => {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, general, value }];
  return Object.entries(value).flatMap(([name, child]) => {
    const isNamed = node?.properties === undefined || !Object.hasOwn(node.properties, name);
    return keysUnder(child, childOf(node, name), joined(path, name), joined(general, isNamed ? '<name>' : name));
  });
};

/** Where other processes have another configuration than this one, by section. */
const differing = async ({ context: { config, ports } }: Call) => {
  const own = sectionDigests(config as LoadedConfig);
  const reports = await ports.presence.list().catch(() => []);
  return reports.flatMap(({ process, config: theirs }) => {
    if (theirs === undefined) return [];
    const sections = new Set([...Object.keys(own), ...Object.keys(theirs)]);
    return [{ process, differsIn: [...sections].filter((name) => own[name] !== theirs[name]).sort() }];
  });
};

/** The configuration in force here: each value, without secrets, where it comes from and what it does; and who has another one. */
export const readConfig = async (call: Call, _: null) => {
  ownersOnly(call.caller.principal, 'the configuration');
  const { config, insight } = call.context;
  const origins = insight ? originsOf(insight.configSource) : null;
  const keys = keysUnder(shownConfig(config as LoadedConfig, insight?.configSource.env ?? {}), schemaTree());
  const atOnce = takenAtOnce(config as LoadedConfig);
  return {
    file: origins?.file ?? null,
    keys: keys.map(({ path, general, value }) => {
      const effect = effects[general];
      const origin = origins?.byPath.get(path) ?? 'default';
      // A variable of the environment wins over the file, and is read at the start alone.
      const isVariable = origin !== 'default' && !origin.startsWith('line ');
      return {
        ...{ path, value, origin, takesEffect: atOnce.has(path) && !isVariable ? ('at_once' as const) : ('at_start' as const) },
        ...(effect !== undefined && { effect }),
      };
    }),
    processes: await differing(call),
  };
};
