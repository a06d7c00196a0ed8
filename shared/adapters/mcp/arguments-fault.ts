import { isDeepStrictEqual } from 'node:util';
import { oneLine } from '../../kit/one-line.ts';

/**
 * Checks a call's arguments against the schema of an MCP server, which is not trusted: nothing is compiled from it, its patterns and references
 * are not followed, and what is not known here is not checked. So it refuses only what the schema refuses for certain.
 */

type Schema = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (object: Schema, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined);

/** By the names of JSON Schema. */
const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const isOfType = (type: unknown, value: unknown): boolean => {
  if (Array.isArray(type)) return type.some((each) => isOfType(each, value));
  const isMet = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
  return isMet === undefined || isMet(value);
};

const faultOf = (schema: unknown, value: unknown, path: string): string | null => {
  // What stands beside a reference means nothing in some drafts of JSON Schema.
  if (!isObject(schema) || Object.hasOwn(schema, '$ref')) return null;
  const at = path === '' ? 'the arguments' : path;
  const [type, choices] = [own(schema, 'type'), own(schema, 'enum')];
  if (!isOfType(type, value)) return `${at}: must be of type ${[type].flat().join(' or ')}`;
  if (Array.isArray(choices) && !choices.some((each) => isDeepStrictEqual(each, value)))
    return `${at}: must be one of ${JSON.stringify(choices)}`;
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema.const, value))
    return `${at}: must be ${JSON.stringify(schema.const)}`;
  if (isObject(value)) return faultInObject(schema, value, path);
  return Array.isArray(value) ? faultInList(schema, value, path) : null;
};

const faultInObject = (schema: Schema, value: Schema, path: string): string | null => {
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const [required, properties] = [own(schema, 'required'), own(schema, 'properties')];
  const missing = Array.isArray(required)
    ? required.find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
    : undefined;
  if (missing !== undefined) return `${below(missing)}: is missing`;
  const known = isObject(properties) ? properties : {};
  const isClosed = own(schema, 'additionalProperties') === false && own(schema, 'patternProperties') === undefined;
  for (const [name, item] of Object.entries(value)) {
    if (isClosed && !Object.hasOwn(known, name)) return `${below(name)}: is not known`;
    const fault = faultOf(own(known, name), item, below(name));
    if (fault !== null) return fault;
  }
  return null;
};

const faultInList = (schema: Schema, value: readonly unknown[], path: string): string | null => {
  // Beside `prefixItems` it is only for the rest of them.
  if (own(schema, 'prefixItems') !== undefined) return null;
  for (const [index, item] of value.entries()) {
    const fault = faultOf(own(schema, 'items'), item, `${path}[${index}]`);
    if (fault !== null) return fault;
  }
  return null;
};

/** Why these arguments are wrong, in words for the model; `null`: nothing is known against them. */
export const argumentsFault = (schema: Schema, given: unknown): string | null => {
  const fault = isObject(given) ? faultOf(schema, given, '') : 'use an object';
  return fault === null ? null : `wrong arguments: ${oneLine(fault, 500)}`;
};
