import { z } from 'zod';
import { type ProblemCode, problemStatus } from '../problem.ts';
import { problem } from './answers.ts';
import { headers, type Operation } from './operation.ts';
import { elsewhere, operations } from './operations.ts';

/** The OpenAPI 3.1 document of the native API, made of the very schemas that its routes check with. */

type Json = Readonly<Record<string, unknown>>;

/** JSON Schemas, with those that have a name once, among the components. */
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
      // What we answer may get further fields.
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

/** Every call may be answered with one of these; one with a body also with the latter. */
const always: readonly ProblemCode[] = ['invalid', 'request_timeout', 'overloaded', 'headers_too_large', 'internal'];
const guarded: readonly ProblemCode[] = ['unauthorized', 'unavailable', 'log_regressed'];
const withBody: readonly ProblemCode[] = ['too_large', 'unsupported_media_type'];

const codesOf = ({ body, problems = [], isOpen }: Operation): readonly ProblemCode[] => [
  ...new Set([...always, ...(isOpen ? [] : guarded), ...(body ? withBody : []), ...problems]),
];

/** The problems of an operation by status; those with the same codes are one component. */
const problemsOf = (responses: Record<string, Json>, operation: Operation): Json => {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codesOf(operation)) {
    const status = problemStatus[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const name = codes.join('.');
      responses[name] ??= problemResponse(codes);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
};

const problemResponse = (codes: readonly ProblemCode[]): Json => {
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: codes } } }] };
  return { description: codes.join(', '), content: { 'application/problem+json': { schema } } };
};

const answersOf = (schemas: Schemas, { answers }: Operation): Json =>
  Object.fromEntries(
    Object.entries(answers).map(([status, given]) => {
      const forms = [given].flat() as readonly (z.ZodType | string)[];
      const content = forms.map((form) =>
        typeof form === 'string'
          ? [form, { schema: { type: 'string' } }]
          : ['application/json', { schema: schemas.of(form, 'output') }],
      );
      return [
        status,
        { description: descriptions[status] ?? 'Done', ...(content.length > 0 && { content: Object.fromEntries(content) }) },
      ];
    }),
  );
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

const parametersOf = (schemas: Schemas, { path, query, headers: named = [] }: Operation): readonly Json[] => {
  const { properties = {}, required = [] } = (query ? schemas.of(query, 'input') : {}) as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
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

const described = (schemas: Schemas, problems: Record<string, Json>, operation: Operation): Json => {
  const { id, summary, tag, body, isOpen } = operation;
  // A body without which nothing is missing may be left out.
  const required = body !== undefined && !body.safeParse({}).success;
  return {
    ...{ operationId: id, summary, tags: [tag] },
    ...(isOpen && { security: [] }),
    parameters: parametersOf(schemas, operation),
    ...(body && { requestBody: { required, content: { 'application/json': { schema: schemas.of(body, 'input') } } } }),
    responses: { ...problemsOf(problems, operation), ...answersOf(schemas, operation) },
  };
};

const description = `Every call needs \`Authorization: Bearer <token>\`, unless it says otherwise. Bodies are JSON in UTF-8, at most 256 kB; unknown
parameters and fields are refused. Times are milliseconds since 1970, UTC. Protocols with a description of their own: ${Object.entries(
  elsewhere,
)
  .map(([path, page]) => `\`${path}\` (${page})`)
  .join(', ')}.`;

/** The document as it is served at `GET /v1/openapi.json`. */
export const openApiDocument = (version: string): Json => {
  const schemas = new Schemas();
  const responses: Record<string, Json> = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: described(schemas, responses, operation) };
  }
  schemas.of(problem, 'output');
  return {
    openapi: '3.1.0',
    info: { title: 'Natter', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The gateway itself' }],
    security: [{ token: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
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
