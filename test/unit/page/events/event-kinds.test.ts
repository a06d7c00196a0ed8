import { expect, test } from 'vitest';
import { givenMemory, isOfKind, kindOf } from '../../../../services/page/events/event-kinds.ts';
import type { NatterEvent } from '../../../../shared/client/main.ts';

const event = (type: string, more: object = {}): NatterEvent => ({ type, ...more }) as unknown as NatterEvent;
const isTrouble = (one: NatterEvent): boolean => isOfKind(kindOf('trouble'), one);

test('a call of a tool that failed is trouble, one that a person denied is none, nor an answer that a person stopped', () => {
  const outcomes = ['ok', 'error', 'unknown', 'denied', 'expired'];
  expect(outcomes.filter((outcome) => isTrouble(event('tool_result', { outcome })))).toEqual(['error', 'unknown']);
  expect([event('turn_failed'), event('turn_aborted')].map(isTrouble)).toEqual([true, false]);
});

test('a kind of the address that has no name of its own is one type', () => {
  expect(kindOf('session_reset').types).toEqual(['session_reset']);
  expect(isOfKind(kindOf('session_reset'), event('turn_failed'))).toBe(false);
  expect(isOfKind(kindOf('all'), event('turn_failed'))).toBe(true);
});

test('who was given a memory is told by the instructions that have it', () => {
  const parts = [
    { name: 'identity', characters: 1 },
    { name: 'memory', characters: 2, memories: ['1.0', '2.0'] },
  ];
  const given = event('prompt_changed', { parts });
  expect(['2.0', '3.0'].map((id) => isOfKind(givenMemory(id), given))).toEqual([true, false]);
});
