import { type ConfigField, configFields, configJsonSchema, type SchemaNode } from '../../../shared/domain/config/schema-text.ts';

/** `docs/use/configuration.md`, made from the schema. A test compares the committed file with this. */
const banner =
  '<!-- Generated from the code by `npx vitest run test/unit/runtime/config/config-docs.test.ts -u`. Do not edit. -->';

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

const typeOf = (node: SchemaNode): string => {
  if (node.const !== undefined) return code(node.const);
  if (node.enum !== undefined) return node.enum.map(code).join(', ');
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(typeOf))].join(', ');
  if (node.type === 'array') return `list of ${typeOf(node.items ?? {})}`;
  const name = { string: 'text', integer: 'whole number', number: 'number', boolean: 'true or false', object: 'map' }[
    node.type ?? ''
  ];
  return name ?? 'anything';
};

/** Characters that would end a cell or begin a tag. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = ({ path, node }: ConfigField): string => {
  const fallback = node.default === undefined ? '' : code(node.default);
  return `| \`${path}\` | ${typeOf(node)} | ${fallback} | ${cell(node.description ?? '')} |`;
};

/** The keys of one part of the file. */
const section = (name: string, fields: readonly ConfigField[]): string =>
  [`## ${name}`, ['| key | type | default | effect |', '|---|---|---|---|', ...fields.map(row)].join('\n')].join('\n\n');

export const configurationMarkdown = (): string => {
  const fields = configFields(configJsonSchema());
  const partOf = ({ path }: ConfigField): string => (path.includes('.') ? (path.split('.')[0] ?? '') : 'General');
  const parts = [...new Set(fields.map(partOf))];
  return `${[
    banner,
    opening,
    ...parts.map((part) =>
      section(
        part,
        fields.filter((field) => partOf(field) === part),
      ),
    ),
  ].join('\n\n')}\n`;
};

const opening = `# Configuration

Nothing is required. Natter reads \`~/.natter/natter.json\` if it exists; \`--config FILE\` or \`NATTER_CONFIG\` names another file. It
is JSON5: comments, trailing commas and keys without quotes are fine. Unknown keys are refused, with the line and a suggestion.

\`\`\`json5
{
  agent: { names: ['natter'], owners: ['telegram:1001'] },
  channels: { telegram: { dmPolicy: 'allowlist', allowFrom: ['1001', '1002'] } },
  session: {
    dmScope: 'per-channel-peer', // each person has a direct session of their own
    identityLinks: { ann: ['telegram:1001', 'irc:ann'] },
    reset: { mode: 'daily', atHour: 4, idleMinutes: 240 },
    resetByChannel: { discord: { mode: 'idle', idleMinutes: 10080 } },
    sendPolicy: { rules: [{ action: 'deny', match: { keyPrefix: 'cron:' } }] },
  },
}
\`\`\`

- \`natter config validate [FILE]\` says what is wrong with a file. \`natter config get PATH\` prints the value in force, \`natter config
  schema\` a JSON Schema for editors.
- Variables win over the file: \`NATTER_DATA_DIR\` (\`dataDir\`), \`NATTER_PREFIX\`, \`NATS_URL\`, \`NATS_TOKEN\`, \`NATS_USERS_DIR\`, \`NATTER_HOST\`,
  \`NATTER_PORT\`, \`NATTER_TOKEN\` (\`gateway.token\`), \`NATTER_MODEL\` (\`agent.model\`), \`NATTER_LOG_LEVEL\`.
- \`NATTER_WARM_UP=off\`: a session host starts half a second sooner and takes longer for its first turns. For tests, not for production.
- A running system follows the file. These take effect at once: \`session\` (except \`mainKey\`, \`residents\` and \`store\`),
  \`agent.owners\`, \`agent.names\`, \`channels\`, \`model.aliases\`, \`log.level\`. Everything else needs a restart, and the log says so.
  A file that cannot be used is logged as an error, and the last good configuration stays in force. On a network disk, changes may go
  unnoticed: restart.
- **Several people and direct messages.** With \`session.dmScope: 'main'\`, everyone who may write direct messages shares one session and
  can learn what the others wrote. If that may be more than one person, set \`per-channel-peer\`. The start, \`natter status\` and
  \`natter doctor\` warn; with \`session.strict: true\` such a configuration is refused.

In a key, \`<name>\` stands for a name that you choose and \`[]\` for an entry of a list. A default within an optional part, such as
\`session.reset\`, applies only if that part is there.`;
