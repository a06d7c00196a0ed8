import { expect, test } from 'vitest';
import type { ConversationMessage } from '../../../../shared/domain/prompt/conversation-message.ts';
import { fileTokens, withFilesFor, withFilesTaken, withoutFiles } from '../../../../shared/domain/prompt/given-files.ts';
import type { ModelFile, ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';
import { limits } from '../../../../shared/kit/limits.ts';

const file = (name: string, type = 'image/png', bytes = 100): ModelFile => ({ digest: name, type, bytes, name });
const said = (...files: ModelFile[]): ConversationMessage => ({ rev: 1, seq: 1, message: { role: 'user', text: 'look', files } });
const everything = (): boolean => true;

/** The names of the files that are given, message by message. */
const givenBy = (messages: readonly ModelMessage[]) =>
  messages.map((message) => (message.role === 'user' ? (message.files ?? []).map(({ name }) => name) : []));
const given = (conversation: readonly ConversationMessage[], takes: (type: string) => boolean = everything) =>
  givenBy(withFilesFor(conversation, takes).map(({ message }) => message));
const textsOf = (conversation: readonly ConversationMessage[], takes: (type: string) => boolean = everything) =>
  withFilesFor(conversation, takes).map(({ message }) => (message.role === 'user' ? message.text : ''));

test('of many files the newest are given, and the message of an older one says so', () => {
  const conversation = Array.from({ length: limits.requestFiles + 2 }, (_, n) => said(file(`f${n}`)));
  expect(given(conversation).map((names) => names.length)).toEqual([0, 0, ...Array(limits.requestFiles).fill(1)]);
  expect(textsOf(conversation).slice(0, 3)).toEqual([
    'look\n[You cannot see f0: there are too many newer ones.]',
    'look\n[You cannot see f1: there are too many newer ones.]',
    'look',
  ]);
});

test('all files of a request together have at most so many bytes', () => {
  const half = limits.requestFileBytes / 2;
  const conversation = ['a', 'b', 'c'].map((name) => said(file(name, 'image/png', half)));
  expect(given(conversation)).toEqual([[], ['b'], ['c']]);
  expect(given([said(file('small', 'image/png', 1)), ...conversation.slice(1)])).toEqual([[], ['b'], ['c']]);
});

test.each([
  ['a type that the model takes', file('f', 'image/png'), ['f'], 'look'],
  ['one that it does not', file('f', 'audio/wav'), [], 'look\n[You cannot see f: you take no files of type audio/wav.]'],
  ['text, which every model reads', file('f', 'text/plain', limits.textFileBytes), ['f'], 'look'],
  ['longer text', file('f', 'text/plain', limits.textFileBytes + 1), [], 'look\n[You cannot see f: it is longer than 128 kB.]'],
])('%s', (_, one, names, text) => {
  const takes = (type: string): boolean => type === 'image/png';
  expect(given([said(one)], takes)).toEqual([names]);
  expect(textsOf([said(one)], takes)).toEqual([text]);
});

test('a fallback is given what it takes; a provider that refused a file gets none', () => {
  const request = { messages: [said(file('picture'), file('notes', 'text/plain'))].map(({ message }) => message) };
  const asked = { ...request, tools: [], system: '' } as unknown as Parameters<typeof withFilesTaken>[0];
  expect(givenBy(withFilesTaken(asked, () => false).messages)).toEqual([['notes']]);
  const refused = withoutFiles(asked, 'the provider refused it');
  expect(givenBy(refused.messages)).toEqual([[]]);
  expect(refused.messages[0]).toMatchObject({
    text: 'look\n[You cannot see picture: the provider refused it.]\n[You cannot see notes: the provider refused it.]',
  });
});

test.each([
  ['image/png', 5_000_000, 1_600],
  ['audio/wav', 800_000, 1_000],
  ['application/pdf', 50_000, 3_000],
  ['text/plain', 4_000, 1_000],
])('a file of %s counts by its kind', (type, bytes, tokens) => {
  expect(fileTokens({ type, bytes })).toBe(tokens);
});
