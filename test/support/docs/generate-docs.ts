import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type EventType, eventTypes, type SessionEvent, sessionEvent } from '../../../shared/domain/session/events.ts';
import { sessionMachine } from '../../../shared/domain/session/fold/machine.ts';
import { headlineOf } from '../../../shared/domain/session/headline.ts';
import { type Golden, pathOf, readCommits } from '../domain/golden.ts';
import { eventMeanings } from './event-meanings.ts';

/** Documentation made from the code: `docs/integrate/events.md` and `docs/develop/machine.md`. A test compares the committed files with this. */
const banner = '<!-- Generated from the code by `npx vitest run test/unit/domain/session/docs.test.ts -u`. Do not edit. -->';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

const typeOf = (schema: Schema): string => {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  return (
    { string: 'text', integer: 'whole number', number: 'number', boolean: 'true or false', object: 'map' }[schema.type ?? ''] ??
    'any'
  );
};

/** The rows of an object's fields, those of nested objects with dotted names. */
const fieldRows = ({ properties = {}, required = [] }: Schema, prefix = ''): string[] =>
  Object.entries(properties).flatMap(([name, field]) => [
    `| \`${prefix}${name}\` | ${typeOf(field)} | ${required.includes(name) ? 'always' : 'optional'} |`,
    ...fieldRows(field, `${prefix}${name}.`),
  ]);

const only = (type: EventType): SessionEvent => ({ type, v: 1 }) as SessionEvent;
/** The headlines, most interesting first: what wins against every type after it. */
const ranked = eventTypes
  .filter((type) => type === headlineOf([only(type === 'turn_completed' ? 'model_step' : 'turn_completed'), only(type)]))
  .sort((one, other) => (headlineOf([only(one), only(other)]) === one ? -1 : 1));

const exampleOf = (type: EventType): string => {
  const golden = JSON.parse(readFileSync(pathOf(type), 'utf8')) as Golden;
  const event = readCommits(golden)
    .flatMap(({ events }) => events)
    .find((candidate) => candidate.type === type);
  return JSON.stringify(event, null, 2);
};

const eventSection = (option: (typeof sessionEvent.options)[number]): string => {
  const type = option.shape.type.value;
  const schema = z.toJSONSchema(option) as Schema;
  const subject = ranked.includes(type)
    ? `Headline: \`natter.event.${type}.<key path>\`.`
    : 'Not a headline, unless its commit contains no headline type and it comes first.';
  return [
    `## ${type}`,
    eventMeanings[type],
    `Version ${option.shape.v.value}. ${subject}`,
    ['| field | type | |', '|---|---|---|', ...fieldRows(schema)].join('\n'),
    `\`\`\`json\n${exampleOf(type)}\n\`\`\``,
  ].join('\n\n');
};

export const eventsMarkdown = (): string =>
  `${[
    banner,
    '# Events',
    'What can happen to a session. Events are never refused and never edited. Each is an entry of the list `events` of a commit ([wire format](wire.md)); readers ignore fields that they do not know.',
    `A commit is filed under one event type, its headline: the first of ${ranked.map((type) => `\`${type}\``).join(', ')} that is in it, else the type of its first event.`,
    ...sessionEvent.options.map(eventSection),
  ].join('\n\n')}\n`;

interface Transition {
  readonly source: string;
  readonly event: string;
  readonly target: string | null;
  readonly again: boolean;
}

const transitionsOf = (source: string, on: object | undefined): Transition[] =>
  Object.entries(on ?? {}).map(([event, transition]: [string, string | { target?: string; reenter?: boolean }]) => {
    const { target = null, reenter = false } = typeof transition === 'string' ? { target: transition } : transition;
    return { source, event, target: target?.replace(/^\./, '') ?? null, again: reenter };
  });

export const machineMarkdown = (): string => {
  const { initial, states = {}, on } = sessionMachine.config;
  const inside = Object.entries(states).flatMap(([name, state]) => transitionsOf(name, state.on));
  const anywhere = transitionsOf('any status', on);
  const arrows = [...inside, ...anywhere.flatMap((all) => Object.keys(states).map((source) => ({ ...all, source })))];
  const staying = [...inside, ...anywhere].filter(({ target }) => target === null);
  return `${[
    banner,
    '# The session machine',
    'Its events are recorded facts ([events](../integrate/events.md)), never commands. Entering `running` starts the turn, the one effect, and leaving it ends the turn; both only in a live session, never in a replay.',
    `\`\`\`mermaid\n${[
      'stateDiagram-v2',
      `  [*] --> ${String(initial)}`,
      ...arrows.flatMap(({ source, event, target, again }) =>
        target === null ? [] : [`  ${source} --> ${target}: ${event}${again ? ' (the turn starts again)' : ''}`],
      ),
    ].join('\n')}\n\`\`\``,
    'Events that change the context of a session and not its status:',
    [
      '| in | events |',
      '|---|---|',
      ...[...new Set(staying.map(({ source }) => source))].map(
        (source) =>
          `| ${source} | ${staying
            .filter((transition) => transition.source === source)
            .map(({ event }) => `\`${event}\``)
            .join(', ')} |`,
      ),
    ].join('\n'),
    'Any other combination means that the history has a hole: the session is quarantined.',
  ].join('\n\n')}\n`;
};
