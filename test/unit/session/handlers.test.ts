import { expect, expectTypeOf, test } from 'vitest';
import { type CommandType, sessionCommand } from '../../../shared/domain/session/commands.ts';
import { type Handlers, handlers } from '../../../shared/domain/session/decide/index.ts';

/** The rules that TypeScript would take for another command's, as `stop for delete_session`. */
type Swappable = {
  [Given in CommandType]: {
    [Wanted in Exclude<CommandType, Given>]: Handlers[Given] extends Handlers[Wanted] ? `${Given} for ${Wanted}` : never;
  }[Exclude<CommandType, Given>];
}[CommandType];

test('the rules of two commands cannot be swapped (checked by tsc)', () => {
  expectTypeOf<Swappable>().toBeNever();
  // @ts-expect-error The rule of `delete_session` does not take a `stop`.
  expectTypeOf<Handlers>().toExtend<{ stop: Handlers['delete_session'] }>();
});

test('every command has a rule', () => {
  const types = sessionCommand.options.map((option) => option.shape.type.value);
  expect(Object.keys(handlers).sort()).toEqual(types.sort());
});
