import { z } from 'zod';
import { sessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { inboundEnvelope } from '../../../../shared/domain/routing/inbound-envelope.ts';
import { checkpointRequest, commandAnswer, commandEnvelope, commitShape } from '../../../../shared/domain/session/envelope.ts';
import { sessionEvent } from '../../../../shared/domain/session/events.ts';
import { resumeRequest } from '../../../../shared/domain/values/delivery.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { custodyRecord } from '../../../../shared/wire/custody-record.ts';
import { auditRecord, deadLetter, delta, join } from '../../../../shared/wire/records.ts';

/** The schemas with which the code validates, as JSON Schema draft-07, the dialect of AsyncAPI 3. */

export type Json = Readonly<Record<string, unknown>>;

/** At most 256 bytes of UTF-8, which is checked by code and not by its schema. */
const key = { type: 'string', minLength: 1, maxLength: limits.sessionKeyBytes, description: 'a session key' };
const bytes = { type: 'string', format: 'binary', description: 'MessagePack binary' };

/** `input`: what Natter accepts, `output`: what it sends, which may get further fields. JSON Schema has no MessagePack binary. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    ...{ io, target: 'draft-7', unrepresentable: 'any' },
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      if (io === 'output' && def.type === 'object') delete jsonSchema.additionalProperties;
      if (def.type === 'custom') Object.assign(jsonSchema, bytes);
      if (zodSchema === sessionKey) Object.assign(jsonSchema, key);
    },
  });
  return json;
};

/** The name of the schema of an event type in one version. */
const eventSchemaName = (type: string, version: number): string => `event.${type}.v${version}`;

/** One schema for each event type and version. */
const eventSchemas = (): Record<string, Json> =>
  Object.fromEntries(
    sessionEvent.options.map((option) => [
      eventSchemaName(option.shape.type.value, option.shape.v.value),
      schemaOf(option, 'output'),
    ]),
  );

const commitSchema = (events: readonly string[]): Json => {
  const schema = schemaOf(commitShape, 'output') as { properties: { events: Json } };
  const items = { oneOf: events.map((name) => ({ $ref: `#/components/schemas/${name}` })) };
  return { ...schema, properties: { ...schema.properties, events: { ...schema.properties.events, items } } };
};

/** All schemas by name. */
export const schemas = () => {
  const events = eventSchemas();
  return {
    commit: commitSchema(Object.keys(events)),
    delta: schemaOf(delta, 'output'),
    join: schemaOf(join, 'input'),
    inboundEnvelope: schemaOf(inboundEnvelope, 'input'),
    commandEnvelope: schemaOf(commandEnvelope, 'input'),
    checkpointRequest: schemaOf(checkpointRequest, 'output'),
    commandAnswer: schemaOf(commandAnswer, 'output'),
    custodyRecord: schemaOf(custodyRecord, 'output'),
    resumeRequest: schemaOf(resumeRequest, 'output'),
    deadLetter: schemaOf(deadLetter, 'output'),
    auditRecord: schemaOf(auditRecord, 'output'),
    ...events,
  };
};
