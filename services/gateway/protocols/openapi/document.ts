import { z } from 'zod';
import { type ProblemCode, problemStatus } from '../../http/problem.ts';
import type { Operation } from '../../operation/operation.ts';
import { problem } from '../../operation/results.ts';
import { type ErrorFormat, headers } from '../../operation/route.ts';
import { type RestOperation, restOperationsOf } from '../rest/operations.ts';
import { tags } from './tags.ts';

/** The OpenAPI 3.1 document, made from the schemas with which the routes validate. */

type Json = Readonly<Record<string, unknown>>;

/** JSON Schemas; named ones appear once, among the components. */
class Schemas {
  readonly components: Record<string, unknown> = {};

  of(schema: z.ZodType, io: 'input' | 'output'): Json {
    const {
      $schema: _,
      $defs = {},
      ...json
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      // Answers may get further fields.
      override: ({ zodSchema, jsonSchema }) => {
        const { def } = zodSchema._zod;
        if (io === 'output' && def.type === 'object') delete jsonSchema.additionalProperties;
      },
    });
    const placed = JSON.parse(JSON.stringify({ json, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/')) as {
      json: Json;
      $defs: Json;
    };
    for (const [name, { $schema: _unused, id: _id, ...component }] of Object.entries(placed.$defs as Record<string, Json>))
      this.components[name] = component;
    const { id, ...inline } = placed.json;
    if (typeof id !== 'string') return inline;
    this.components[id] = inline;
    return { $ref: `#/components/schemas/${id}` };
  }
}

/** What operations share in the document. */
interface Components {
  readonly schemas: Schemas;
  readonly responses: Record<string, Json>;
}

/** Every call may be answered with one of these; one with a body also with the latter. */
const always: readonly ProblemCode[] = ['invalid', 'request_timeout', 'overloaded', 'headers_too_large', 'internal'];
const guarded: readonly ProblemCode[] = ['unauthorized', 'unavailable', 'log_regressed'];
const withBody: readonly ProblemCode[] = ['too_large', 'unsupported_media_type'];

const codesOf = ({ body, problems = [], isOpen }: RestOperation): readonly ProblemCode[] => [
  ...new Set([...always, ...(isOpen ? [] : guarded), ...(body ? withBody : []), ...problems]),
];

/** The problems of an operation by status; those with the same codes are one component. */
const problemsOf = ({ schemas, responses }: Components, operation: RestOperation): Json => {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codesOf(operation)) {
    const status = problemStatus[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  if (operation.errors) return errorsOf({ schemas, responses }, operation.errors, [...byStatus.keys()]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = codes.join('.');
      responses[name] ??= problemResponse(codes);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
};

/** Errors of another shape: one component for all of their statuses. */
const errorsOf = ({ schemas, responses }: Components, errors: ErrorFormat, statuses: readonly number[]): Json => {
  const { name, description, schema, statuses: own } = errors;
  responses[name] ??= { description, content: { 'application/json': { schema: schemas.of(schema, 'output') } } };
  const all = [...new Set([...statuses, ...own])];
  return Object.fromEntries(all.map((status) => [status, { $ref: `#/components/responses/${name}` }]));
};

const problemResponse = (codes: readonly ProblemCode[]): Json => {
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: codes } } }] };
  return { description: codes.join(', '), content: { 'application/problem+json': { schema } } };
};

const answersOf = (schemas: Schemas, { answers, examples }: RestOperation): Json => {
  const [first] = Object.keys(answers);
  return Object.fromEntries(
    Object.entries(answers).map(([status, given]) => {
      const forms = [given].flat() as readonly (z.ZodType | string)[];
      const example = status === first ? exampleIn(examples?.answer) : {};
      const content = forms.map((form) =>
        typeof form === 'string'
          ? [form, { schema: { type: 'string' } }]
          : ['application/json', { schema: schemas.of(form, 'output'), ...example }],
      );
      return [
        status,
        { description: descriptions[status] ?? 'Done', ...(content.length > 0 && { content: Object.fromEntries(content) }) },
      ];
    }),
  );
};
const exampleIn = (example: unknown): Json => (example === undefined ? {} : { example });
const descriptions: Readonly<Record<string, string>> = {
  201: 'Made',
  202: 'Accepted: it is stored and will take effect',
  304: 'The session has not moved',
  503: 'Not ready',
};

const pathParameters: Readonly<Record<string, Json>> = {
  key: {
    description: 'The session: "main", or a key such as "agent:main:telegram:group:-100123", percent-encoded as one segment',
    schema: { type: 'string', minLength: 1, maxLength: 1_024 },
  },
};

/** `/v1/sessions/:key` as OpenAPI writes it; `rest` names what `*` stands for. */
const templateOf = ({ path, rest = '' }: RestOperation): string => path.replaceAll(/:(\w+)/g, '{$1}').replace('*', `{${rest}}`);

const parametersOf = (schemas: Schemas, operation: RestOperation): readonly Json[] => {
  const { query, headers: named = [] } = operation;
  const { properties = {}, required = [] } = (query ? schemas.of(query, 'input') : {}) as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return [
    ...[...templateOf(operation).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      ...{ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } },
      ...pathParameters[name],
    })),
    ...Object.entries(properties).map(([name, { description, ...schema }]) => ({
      ...{ name, in: 'query', required: required.includes(name) },
      ...(description !== undefined && { description }),
      schema,
    })),
    ...named.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
};

const bodyOf = (schemas: Schemas, { body, examples }: RestOperation): Json => {
  if (body === undefined) return {};
  // A body may be left out if nothing in it is required.
  const required = !body.safeParse({}).success;
  const content = { schema: schemas.of(body, 'input'), ...exampleIn(examples?.body) };
  return { requestBody: { required, content: { 'application/json': content } } };
};

const described = (components: Components, operation: RestOperation): Json => {
  const { id, summary, description: text, tag, isOpen } = operation;
  const { schemas } = components;
  return {
    ...{ operationId: id, summary, ...(text !== undefined && { description: text }), tags: [tag] },
    ...(isOpen && { security: [] }),
    parameters: parametersOf(schemas, operation),
    ...bodyOf(schemas, operation),
    responses: { ...problemsOf(components, operation), ...answersOf(schemas, operation) },
  };
};

/** Protocols that are not operations, by address, each with the page that describes it. */
export const elsewhere: Readonly<Record<string, string>> = {
  '/mcp': 'docs/integrate/mcp.md',
  '/v1/ws': 'docs/integrate/websocket.md',
};

const description = `Every call needs \`Authorization: Bearer <token>\`, unless it says otherwise. Bodies are JSON in UTF-8, at most 256 kB; unknown
parameters and fields are refused. Times are milliseconds since 1970, UTC. Protocols with a description of their own: ${Object.entries(
  elsewhere,
)
  .map(([path, page]) => `\`${path}\` (${page})`)
  .join(', ')}.`;

/** The document as it is served at `GET /v1/openapi.json`. */
export const openApiDocument = (version: string, table: readonly Operation[]): Json => {
  const components = { schemas: new Schemas(), responses: {} };
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of restOperationsOf(table)) {
    const path = templateOf(operation);
    paths[path] = { ...paths[path], [operation.method]: described(components, operation) };
  }
  const { schemas, responses } = components;
  schemas.of(problem, 'output');
  return {
    openapi: '3.1.0',
    info: { title: 'Natter', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The gateway itself' }],
    security: [{ token: [] }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      parameters: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [
          name,
          { name, in: 'header', required: false, description: text, schema: { type: 'string' } },
        ]),
      ),
      responses,
      schemas: schemas.components,
    },
  };
};
