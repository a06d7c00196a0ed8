import { Argument, type Command } from 'commander';
import { clientOf } from '../../access.ts';
import { example } from '../../example.ts';
import { oneLine, type World } from '../../terminal.ts';
import { type Completion, completionCandidates, type Offer } from './completion-candidates.ts';

/** How many session keys or approvals are offered, and how long Tab waits for them. */
const mostOffered = 200;
const patienceMs = 1_000;

/** Each script calls `natter completions words`, which prints one candidate per line, with its description after a tab. */
const scripts = {
  // A colon ends a word in bash: the part before the last colon must not be repeated.
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

/** `natter completions bash|zsh|fish`: a script that completes commands, options, session keys and ids of approvals in a shell. */
export const completionsCommand = (program: Command, world: World): void => {
  const offer: Offer = async (what, common) => {
    const found: Completion[] = [];
    const signal = AbortSignal.timeout(patienceMs);
    try {
      const { approvals, sessions } = clientOf(world, common);
      const all = what === 'approval' ? approvals.list({ signal }) : sessions.list({ signal });
      for await (const one of all) {
        const isApproval = 'approvalId' in one;
        found.push(
          isApproval ? { word: one.approvalId, description: oneLine(one.action, 60) } : { word: one.key, description: '' },
        );
        if (found.length >= mostOffered) break;
      }
    } catch {
      // Without a gateway there is nothing to offer, and Tab shows no errors.
    }
    return found;
  };
  const completions = program
    .command('completions')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', example('completions bash'))
    .action((shell: keyof typeof scripts) => world.terminal.out(scripts[shell]));
  completions
    .command('words', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      for (const { word, description } of await completionCandidates(program, words, offer))
        world.terminal.out(description === '' ? word : `${word}\t${description}`);
    });
};
