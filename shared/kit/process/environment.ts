import { isAbsolute } from 'node:path';
import { NatterError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Always set, to values of our own. */
const own = new Set(['PATH', 'LANG', 'HOME']);

/** Variables that change which program, library or file is used: whoever sets them can run code (I12). */
const dangerous = new RegExp(
  [
    // Prefixes.
    '^(NODE_|NPM_CONFIG_|PIP_|UV_|YARN_|LD_|DYLD_|PYTHON|PERL|RUBY|GIT_|BASH_|DOTNET_|COR_|MALLOC_|GLIBC_|GCONV_|OPENSSL_|LUA_|PHP|RUSTC|R_PROFILE)',
    '_ASKPASS$',
    '^(ENV|IFS|PS4|CDPATH|SHELL|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|ZDOTDIR|FPATH|PSMODULEPATH|XDG_CONFIG_(HOME|DIRS))$',
    '^(CLASSPATH|_?JAVA_(TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|(JAVA|MAVEN|GRADLE|SBT|JRUBY)_OPTS|GEM_HOME|GEM_PATH|BUN_OPTIONS)$',
    '^(GOFLAGS|MAKEFILES|(GNU)?MAKEFLAGS|ERL_(A|Z)?FLAGS|ERL_LIBS|JULIA_LOAD_PATH|TCLLIBPATH|GTK_MODULES|GIO_EXTRA_MODULES|QT_PLUGIN_PATH)$',
    '^(EDITOR|VISUAL|PAGER|LESSOPEN|LESSCLOSE|MANPAGER|BROWSER|VIMINIT|EXINIT|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS)$',
  ].join('|'),
);

/** Why programs may not get a variable of this name, with the fix; `null` if they may. */
export const environmentProblem = (name: string): string | null => {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return 'is not a variable name; use letters, digits and "_"';
  const upper = name.toUpperCase();
  if (own.has(upper)) return 'is always set; remove it';
  if (upper.startsWith('NATTER_')) return 'holds secrets of this installation; remove it';
  if (dangerous.test(upper)) return 'changes which code programs run; remove it';
  return null;
};

/** Throws `invalid` for the first variable that programs may not get. `field` is the path of the names in the configuration. */
export const checkEnvironment = (names: readonly string[], field: string): void => {
  for (const [index, name] of names.entries()) {
    const problem = environmentProblem(name);
    if (problem === null) continue;
    const place = `${field}[${index}]`;
    throw new NatterError('invalid', `${place}: ${JSON.stringify(name)} ${problem}`, { field: place });
  }
};

/** The search path when the environment has none. */
export const usualPath = '/usr/local/bin:/usr/bin:/bin';

/** The complete environment of a program: PATH, LANG, HOME and those of the named variables that are set. */
export const programEnvironment = (env: Environment, names: readonly string[], home: string): Record<string, string> => {
  const named = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  // A relative entry would search the program's working directory.
  const path = (env.PATH ?? '').split(':').filter(isAbsolute);
  return {
    ...Object.fromEntries(named),
    PATH: path.length > 0 ? path.join(':') : usualPath,
    LANG: env.LANG ?? 'C.UTF-8',
    HOME: home,
  };
};
