import { z } from 'zod';
import { effects } from './effects.ts';
import { configSchema } from './schema.ts';
import { suggest } from './suggest.ts';

/** The fields of a JSON Schema node that we read. `secret` is our own. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly secret?: boolean;
}

/** A key of the configuration: `gateway.port`, `channels.<name>.allowFrom`, `session.sendPolicy.rules[].action`. */
export interface ConfigField {
  readonly path: string;
  readonly node: SchemaNode;
}

const isNode = (value: SchemaNode | boolean | undefined): value is SchemaNode => typeof value === 'object';

/** The schema of the child `name` of an object, a map or a list. */
export const childOf = (node: SchemaNode | undefined, name: string): SchemaNode | undefined => {
  if (node?.properties && Object.hasOwn(node.properties, name)) return node.properties[name];
  if (isNode(node?.additionalProperties)) return node.additionalProperties;
  return /^\d+$/.test(name) ? node?.items : undefined;
};

/** The direct children of a node, each with the step it adds to the path. */
const below = (node: SchemaNode): (readonly [step: string, child: SchemaNode])[] => [
  ...Object.entries(node.properties ?? {}).map(([name, child]) => [`.${name}`, child] as const),
  ...(isNode(node.additionalProperties) ? [['.<name>', node.additionalProperties] as const] : []),
  ...(isNode(node.items) ? [['[]', node.items] as const] : []),
];

const fieldsUnder = (node: SchemaNode, path: string): ConfigField[] =>
  below(node).flatMap(([step, child]) => {
    const field = { path: `${path}${step}`.replace(/^\./, ''), node: child };
    return [field, ...fieldsUnder(child, field.path)];
  });

/** All keys that hold a value rather than further keys, in schema order. */
export const configFields = (tree: SchemaNode): ConfigField[] => {
  const fields = fieldsUnder(tree, '').filter(({ path }) => !/(\[\]|<name>)$/.test(path));
  return fields.filter(({ path }) => !fields.some((other) => ['.', '[].'].some((step) => other.path.startsWith(path + step))));
};

/** The schema of the file, without descriptions. */
export const schemaTree = (): SchemaNode => z.toJSONSchema(configSchema, { io: 'input' }) as SchemaNode;

const explained = (node: SchemaNode, path: string): SchemaNode => {
  const effect = effects[path];
  const at = (step: string, child: SchemaNode): SchemaNode => explained(child, `${path}${step}`.replace(/^\./, ''));
  return {
    ...(effect !== undefined && { description: effect }),
    ...node,
    ...(node.properties && {
      properties: Object.fromEntries(Object.entries(node.properties).map(([name, child]) => [name, at(`.${name}`, child)])),
    }),
    ...(isNode(node.additionalProperties) && { additionalProperties: at('.<name>', node.additionalProperties) }),
    ...(isNode(node.items) && { items: at('[]', node.items) }),
  };
};

/** The JSON Schema of the configuration file with a description of each key, for editors and `natter config schema`. */
export const configJsonSchema = (): SchemaNode => explained(schemaTree(), '');

/** The advice for an unknown key; `path` is the object it was found in, or looked for. */
export const adviceOn = (path: readonly string[], key: string, isFound = true): string => {
  const tree = schemaTree();
  const known = Object.keys(path.reduce<SchemaNode | undefined>(childOf, tree)?.properties ?? {});
  const elsewhere = fieldsUnder(tree, '').find((field) => field.path.endsWith(`.${key}`))?.path;
  const meant = suggest(key, known) ?? elsewhere;
  if (meant !== undefined) return `unknown key; did you mean "${meant}"?`;
  if (known.length === 0 && !isFound) return `unknown key; ${path.join('.')} has no keys of its own`;
  return `unknown key; ${isFound ? 'remove it, or ' : ''}use one of: ${known.join(', ')}`;
};

/** A copy of a configuration value with every secret replaced by `[secret]`. */
export const withoutSecrets = (value: unknown, node: SchemaNode | undefined = schemaTree()): unknown => {
  if (node?.secret === true) return value === undefined ? undefined : '[secret]';
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, node?.items ?? {}));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, withoutSecrets(child, childOf(node, name) ?? {})]),
  );
};
