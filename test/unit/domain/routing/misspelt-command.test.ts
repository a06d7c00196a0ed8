import { expect, test } from 'vitest';
import { refusalOfLine } from '../../../../shared/domain/routing/misspelt-command.ts';

const further = { triggers: ['/fresh', 'anew'], words: ['/tides'], usages: ['/clear'] };

test.each([
  ['/stpo', 'There is no command /stpo. Did you mean /stop?'],
  ['/tidse now', 'There is no command /tidse. Did you mean /tides?'],
  ['/somewhere', 'There is no command /somewhere. /help lists them'],
  ['/stop it', 'Nothing was sent: the command is /stop, alone.'],
  ['/clear it', 'Nothing was sent: the command is /clear, alone.'],
  ['/send', 'Nothing was sent: the command is /send on|off|inherit, alone.'],
  ['/send of', 'Nothing was changed: "of" is none of on, off, inherit.'],
])('a line that is no command is refused: %s', (line, why) => {
  expect(refusalOfLine(line, further)).toMatch(new RegExp(`^${why.replace(/[?|.]/g, '\\$&')}`));
});

test.each([
  '/stop',
  '/NEW hello',
  '/tides now',
  '/skill tides',
  '/fresh',
  ' /stpo',
  '//stpo',
  '/etc/hosts is what?',
  'see /stpo',
  '/',
])('a line is sent: "%s"', (line) => {
  expect(refusalOfLine(line, further)).toBeNull();
});
