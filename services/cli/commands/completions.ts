import { Argument, type Command } from 'commander';
import { type CommonOptions, clientOf } from '../access.ts';
import { completing } from '../completing.ts';
import type { World } from '../terminal.ts';

/** How many sessions are offered, and how long a person who has pressed Tab waits for them. */
const offeredSessions = 200;
const patienceMs = 1_000;

/** Each asks `natter completions words` for what could stand at the cursor: a line for each, with what it means behind a tab. */
const scripts = {
  // A colon ends a word in bash: what stands before the last one must not be given again.
  bash: `_natter() {
  local -a words
  local line="\${COMP_LINE:0:COMP_POINT}" word text
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local current="\${words[-1]}"
  local before="\${current%"\${current##*:}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word text; do
    COMPREPLY+=("\${word#"$before"}")
  done < <("$1" completions words -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _natter natter`,
  zsh: `#compdef natter
_natter() {
  local -a values texts
  local line
  for line in "\${(@f)$("$words[1]" completions words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n "$line" ]] || continue
    values+=("\${line%%$'\\t'*}")
    texts+=("\${line//$'\\t'/  -- }")
  done
  (( \${#values} )) && compadd -l -d texts -a values || _files
}
compdef _natter natter`,
  fish: `function __natter_words
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completions words -- $words[2..-1] 2>/dev/null
end
complete -c natter -f -a '(__natter_words)'`,
} as const;
const shells = Object.keys(scripts) as (keyof typeof scripts)[];

/** `natter completions bash|zsh|fish`: what teaches a shell the commands, their options and the sessions there are. */
export const completionsCommand = (program: Command, world: World): void => {
  const sessionKeys = async (common: CommonOptions): Promise<string[]> => {
    const keys: string[] = [];
    const signal = AbortSignal.timeout(patienceMs);
    try {
      for await (const { key } of clientOf(world, common).sessions.list({ signal })) {
        if (keys.push(key) >= offeredSessions) break;
      }
    } catch {
      // Without a gateway there is nothing to offer, and nobody to tell.
    }
    return keys;
  };
  const completions = program
    .command('completions')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .description('print what makes a shell complete our commands, options and session keys')
    .action((shell: keyof typeof scripts) => world.terminal.out(scripts[shell]));
  completions
    .command('words', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      for (const { word, means } of await completing(program, words, sessionKeys))
        world.terminal.out(means === '' ? word : `${word}\t${means}`);
    });
};
