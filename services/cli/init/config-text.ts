import type { KnownProvider } from './known-providers.ts';

/** Where the key of the chosen provider is: at most one of them. */
export interface KeySource {
  readonly apiKeyEnv?: string;
  readonly keyFile?: string;
  readonly keyCommand?: readonly string[];
}
export interface ChosenModel {
  readonly provider: Pick<KnownProvider, 'name' | 'kind' | 'baseUrl'>;
  readonly key: KeySource;
  readonly model: string;
  /** Further models of the provider, for `/new <model>`. */
  readonly models: readonly string[];
}

const comments: Readonly<Record<keyof KeySource, string>> = {
  apiKeyEnv: 'The environment variable that holds the key: the key itself is never in this file.',
  keyFile: 'The file that holds the key; only you may read it (chmod 600).',
  keyCommand: 'A program that prints the key, run when Natter starts.',
};
const heading = (date: string): string =>
  `// Written by "natter init" on ${date}. This is JSON5: comments and trailing commas are allowed.
// "natter config schema" prints every key and what it does, "natter config validate" checks this file.`;

/** What people look for next. Each line is valid as it is, without its slashes. */
const toolHints = {
  workspace: `    // Lets the model read and write files in a folder:
    // workspace: "~/.natter/workspace",`,
  tools: `  // Lets the model run programs in that folder, each time with your approval:
  // tools: { exec: { enabled: true } },`,
};
const moreModels = 8;

/** The configuration file of a chosen model, with comments. */
export const configText = ({ provider, key, model, models }: ChosenModel, date: string): string => {
  const { name, kind, baseUrl } = provider;
  const others = models.filter((other) => other !== model).slice(0, moreModels);
  const sources = Object.entries(key) as [keyof KeySource, unknown][];
  const lines = [
    `kind: ${JSON.stringify(kind)},`,
    `baseUrl: ${JSON.stringify(baseUrl)},`,
    ...sources.flatMap(([source, value]) => [`// ${comments[source]}`, `${source}: ${JSON.stringify(value)},`]),
    '// Models by name, so that "/new <model>" in a chat finds them.',
    `models: ${JSON.stringify([model, ...others])},`,
  ];
  return `${heading(date)}
{
  agent: {
    // <provider>/<model>. "offline" is the built-in model, which needs no key and only repeats what you say.
    model: ${JSON.stringify(`${name}/${model}`)},
${toolHints.workspace}
  },
${toolHints.tools}
  model: {
    providers: {
      ${JSON.stringify(name)}: {
${lines.map((line) => `        ${line}`).join('\n')}
      },
    },
  },
}
`;
};

/** The file of somebody who wants no model of a provider, for now. */
export const offlineText = (date: string): string => `${heading(date)}
{
  agent: {
    // The built-in model: it needs no key and only repeats what you say. "natter init --force" sets up a real one.
    model: "offline",
${toolHints.workspace}
  },
${toolHints.tools}
}
`;
