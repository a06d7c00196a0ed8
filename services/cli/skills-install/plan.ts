import { basename, join } from 'node:path';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { InstallSpec } from '../../../shared/domain/skills/manifest.ts';
import type { Skill } from '../../../shared/domain/skills/skill.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { downloadFolder, type ToolPlaces } from '../../../shared/runtime/skills/places.ts';
import { type ArchiveKind, archiveKind } from './archive.ts';
import { webAddress } from './fetch.ts';
import { type ManagedKind, packageName } from './names.ts';

export type NodeManager = Config['skills']['install']['nodeManager'];

interface Plan {
  /** The spec's own id, or its kind and its index in the list. */
  readonly id: string;
  readonly label?: string;
  /** Programs that the plan installs. */
  readonly bins: readonly string[];
}
/** A package manager's command line. It does not pass through a shell. */
export interface ProgramPlan extends Plan {
  readonly kind: ManagedKind;
  readonly command: readonly [program: string, ...args: string[]];
  /** Variables that make the manager install into our folder. */
  readonly env: Readonly<Record<string, string>>;
}
/** A file to download, and where it goes. */
export interface DownloadPlan extends Plan {
  readonly kind: 'download';
  readonly url: URL;
  readonly sha256?: string;
  /** `null` if the file is kept as it is. */
  readonly archive: ArchiveKind | null;
  /** The file's name if it is kept as it is. */
  readonly file: string;
  readonly strip: number;
  /** The folder to install into, and the skill's own folder around it. */
  readonly target: string;
  readonly home: string;
}
export type InstallPlan = ProgramPlan | DownloadPlan;

export const specId = ({ id, kind }: InstallSpec, index: number): string => id ?? `${kind}-${index}`;

interface PlanOptions {
  readonly skill: Skill;
  readonly nodeManager: NodeManager;
  readonly places: ToolPlaces;
}

/** Everything that installing one spec would do (A15/169–171). Throws `invalid` for a spec that must not be followed. */
export const planOf = (spec: InstallSpec, index: number, { skill, nodeManager, places }: PlanOptions): InstallPlan => {
  const { kind, label, bins } = spec;
  const plan = { id: specId(spec, index), ...(label !== undefined && { label }), bins };
  switch (kind) {
    case 'brew':
      return { ...plan, kind, command: ['brew', 'install', packageName(kind, spec.formula)], env: {} };
    case 'node':
      return { ...plan, kind, ...nodeCommands[nodeManager](packageName(kind, spec.package), places) };
    case 'go':
      return { ...plan, kind, command: ['go', 'install', versioned(packageName(kind, spec.module))], env: { GOBIN: places.bin } };
    case 'uv':
      return {
        ...plan,
        kind,
        // Only prebuilt packages: building one runs its code.
        command: ['uv', 'tool', 'install', '--no-build', packageName(kind, spec.package)],
        env: { UV_TOOL_DIR: join(places.root, 'uv'), UV_TOOL_BIN_DIR: places.bin },
      };
    case 'download':
      return { ...plan, kind, ...downloadOf(spec, plan.id, skill, places) };
  }
};

const versioned = (module: string): string => (module.includes('@') ? module : `${module}@latest`);

/** How each manager installs programs into our folder. None runs the install scripts of packages, which are untrusted code. */
const nodeCommands: Readonly<Record<NodeManager, (name: string, places: ToolPlaces) => Pick<ProgramPlan, 'command' | 'env'>>> = {
  npm: (name, { root }) => ({
    command: ['npm', 'install', '--global', `--prefix=${root}`, '--ignore-scripts', '--no-audit', '--no-fund', name],
    env: {},
  }),
  pnpm: (name, { root, bin }) => ({
    command: [
      'pnpm',
      'add',
      '--global',
      `--global-dir=${join(root, 'pnpm')}`,
      `--global-bin-dir=${bin}`,
      '--ignore-scripts',
      name,
    ],
    env: {},
  }),
  yarn: (name, { root }) => ({
    command: ['yarn', 'global', 'add', `--prefix=${root}`, `--global-folder=${join(root, 'yarn')}`, '--ignore-scripts', name],
    env: {},
  }),
  bun: (name, { root, bin }) => ({
    command: ['bun', 'add', '--global', '--ignore-scripts', name],
    env: { BUN_INSTALL_GLOBAL_DIR: join(root, 'bun'), BUN_INSTALL_BIN: bin },
  }),
};

const downloadOf = (spec: InstallSpec, id: string, skill: Skill, places: ToolPlaces) => {
  if (spec.url === undefined) throw new NatterError('invalid', 'install: url is missing for the kind download', { field: 'url' });
  const url = webAddress(spec.url, 'install: url');
  const name = basename(url.pathname);
  const archive = spec.extract === false ? null : archiveKind(spec.archive, name);
  const [bin] = spec.bins;
  return {
    url,
    ...(spec.sha256 !== undefined && { sha256: spec.sha256.toLowerCase() }),
    archive,
    file: plainFile(bin !== undefined && spec.bins.length === 1 ? bin : name),
    strip: spec.stripComponents ?? 0,
    ...downloadFolder(skill, spec.targetDir ?? id, places),
  };
};

const plainFile = (name: string): string => (/^[\w][\w.+-]{0,127}$/.test(name) ? name : 'download');
