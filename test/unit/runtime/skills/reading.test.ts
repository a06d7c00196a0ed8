import { describe, expect, test } from 'vitest';
import { manifestOf } from '../../../../shared/domain/skills/manifest.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { frontMatterOf } from '../../../../shared/runtime/skills/front-matter.ts';
import { skillText } from './folders.ts';

const read = (text: string) => manifestOf(frontMatterOf(text).fields);
const withFields = (lines: string) => read(`---\nname: a\ndescription: b\n${lines}\n---\n`);

describe('A15/142: a SKILL.md is YAML front matter and instructions', () => {
  test('the two parts', () => {
    expect(frontMatterOf('\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\n\r\n# Text\r\n---\r\nmore\r\n')).toEqual({
      fields: { name: 'a', description: 'b' },
      body: '# Text\n---\nmore',
    });
  });
  test.each([
    ['no front matter', '# Text', /has no front matter/],
    ['no end', '---\nname: a\n', /unterminated/],
    ['no fields', '---\n- a\n---\n', /has no fields/],
    ['nothing in it', '---\n---\n', /has no fields/],
    ['a key twice', '---\nname: a\nname: b\n---\n', /not plain YAML/],
    ['a text with ": "', '---\nname: a\ndescription: Use when: x\n---\n', /in quotes/],
  ])('%s is told', (_, text, problem) => expect(() => read(text)).toThrow(problem));
});

describe('A15/173: hostile front matter is refused', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]', 'b: &b [*a, *a, *a, *a, *a, *a]', 'c: [*b, *b, *b, *b]'].join('\n');
  test.each([
    ['JavaScript', '---js\nmodule.exports = process.exit(1)\n---\n', /only YAML/],
    ['JSON', '---json\n{"name":"a"}\n---\n', /only YAML/],
    ['a bomb of aliases', `---\n${bomb}\n---\n`, /write values out/],
    ['a tag', '---\nname: !!js/function "function () { return 1 }"\ndescription: b\n---\n', /not plain YAML/],
    ['a tag of YAML that makes objects', '---\nname: a\ndescription: !!set {b}\n---\n', /description: is missing/],
    ['nesting without end', `---\nname: ${'['.repeat(20_000)}\n---\n`, /not plain YAML/],
    ['more than is ever needed', `---\nname: a\n# ${'x'.repeat(limits.skillFrontMatterBytes)}\n---\n`, /bytes of front matter/],
  ])('%s', (_, text, problem) => expect(() => read(text)).toThrow(problem));

  test('a key twice, however deep', () => {
    expect(() => withFields('metadata: {natter: {os: linux, os: darwin}}')).toThrow(/"os" occurs twice/);
  });
  test('what cannot be seen is no part of a description', () => {
    expect(read('---\nname: a\ndescription: "b\\e[31m\\x85c\\u202ed"\n---\n').description).toBe('b [31m c d');
  });
  test('nor what is hidden from people and plain to a model; what joins letters and emoji stays', () => {
    const hidden = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    const description = `Tells${hidden} the\u200b weather\u{e0101}\ufeff👩\u200d🚀\ufe0f.`;
    expect(read(`---\nname: a\ndescription: "${description}"\n---\n`).description).toBe('Tells the weather 👩\u200d🚀\ufe0f.');
    expect(read(`---\nname: a\ndescription: ${description}\n---\n`).description).toBe('Tells the weather 👩\u200d🚀\ufe0f.');
  });
  test('names of the prototype are names like any other', () => {
    const manifest = withFields(
      '__proto__: {always: true, polluted: 1}\nconstructor: {prototype: {polluted: 1}}\nmetadata: {__proto__: {natter: {always: true}}, natter: {__proto__: {always: true}}}',
    );
    expect(manifest.always).toBe(false);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(withFields('metadata: {"__proto__": {"always": true}}').always).toBe(false);
  });
});

describe('the fields', () => {
  test('A15/146–150: what a skill is without a word of its own', () => {
    expect(read(skillText('a'))).toEqual({
      ...{
        name: 'a',
        description: 'What a does.',
        userInvocable: true,
        modelInvocable: true,
        always: false,
        os: [],
        install: [],
      },
      requires: { bins: [], anyBins: [], env: [], config: [] },
    });
  });
  test.each([
    ['A15/146: name is required', '---\ndescription: b\n---\n', /^SKILL.md: name: is missing/],
    ['A15/146: description is required', '---\nname: a\n---\n', /^SKILL.md: description: is missing/],
    ['A15/146: a name can be written in one line', '---\nname: "a\\nb"\ndescription: b\n---\n', /^SKILL.md: name: use 1 to 64/],
    ['A15/146: a name is no path', '---\nname: ../../etc\ndescription: b\n---\n', /^SKILL.md: name: use 1 to 64/],
    ['A15/168: a description is bounded', `---\nname: a\ndescription: ${'b'.repeat(2_001)}\n---\n`, /^SKILL.md: description: /],
    [
      'A15/148: user-invocable is a flag',
      '---\nname: a\ndescription: b\nuser-invocable: maybe\n---\n',
      /user-invocable: use true or/,
    ],
    [
      'A15/150: a dispatch names its tool',
      '---\nname: a\ndescription: b\ncommand-dispatch: tool\n---\n',
      /command-tool: is missing/,
    ],
    ['A15/150: only raw arguments', '---\nname: a\ndescription: b\ncommand-arg-mode: json\n---\n', /command-arg-mode: use "raw"/],
    [
      'A15/153: os is a list',
      '---\nname: a\ndescription: b\nmetadata: {natter: {os: {a: 1}}}\n---\n',
      /metadata.natter.os: use a list/,
    ],
    ['A15/151: metadata is a map', '---\nname: a\ndescription: b\nmetadata: [1]\n---\n', /metadata: must be a map/],
    [
      'A15/151: metadata as a text is JSON',
      '---\nname: a\ndescription: b\nmetadata: "{"\n---\n',
      /metadata: is a string that is not valid JSON/,
    ],
  ])('%s', (_, text, problem) => expect(() => read(text)).toThrow(problem));
  test.each([
    ['A15/147: homepage', 'homepage: https://a.example', { homepage: 'https://a.example' }],
    ['A15/159: homepage in the metadata', 'metadata: {natter: {homepage: https://b.example}}', { homepage: 'https://b.example' }],
    ['A15/148: user-invocable', 'user-invocable: false', { userInvocable: false }],
    ['A15/149: disable-model-invocation', 'disable-model-invocation: "true"', { modelInvocable: false }],
    ['A15/150: dispatch', 'command-dispatch: tool\ncommand-tool: exec\ncommand-arg-mode: raw', { commandTool: 'exec' }],
    ['A15/150: a tool without dispatch is none', 'command-tool: exec', { userInvocable: true }],
    ['A15/152: always', 'metadata: {natter: {always: true}}', { always: true }],
    ['A15/153: one os', 'metadata: {natter: {os: linux}}', { os: ['linux'] }],
    ['A15/158: primaryEnv and key', 'metadata: {natter: {primaryEnv: K, skillKey: k}}', { primaryEnv: 'K', skillKey: 'k' }],
    ['A15/159: emoji', 'metadata: {natter: {emoji: "🧠"}}', { emoji: '🧠' }],
    [
      'unknown keys count for nothing',
      'license: MIT\nmetadata: {natter: {unknown: 1}, other: {always: true}}',
      { always: false },
    ],
  ])('%s', (_, lines, expected) => expect(withFields(lines)).toMatchObject(expected));
});

describe('A15/151: metadata', () => {
  const mac = { os: ['darwin'], requires: { bins: ['memo'], anyBins: [], env: [], config: [] } };
  test.each([
    ['one line', 'metadata: {"natter": {"os": ["darwin"], "requires": {"bins": ["memo"]}}}'],
    ['one line with trailing commas', 'metadata: {"natter": {"os": ["darwin",], "requires": {"bins": ["memo",],},},}'],
    ['several lines', 'metadata:\n  {\n    "natter":\n      { "os": ["darwin",], "requires": { "bins": ["memo"] }, },\n  }'],
    [
      'several lines, closed in the first column',
      'metadata: {\n  "natter": {\n    "os": ["darwin"],\n    "requires": {"bins": ["memo"]},\n  },\n}',
    ],
    ['several lines with tabs', 'metadata:\n\t{\n\t\t"natter": { "os": ["darwin"], "requires": { "bins": ["memo"] } },\n\t}'],
    ['a text of JSON', `metadata: '{"natter": {"os": ["darwin"], "requires": {"bins": ["memo"],},}}'`],
    ['a map of texts, as AgentSkills has it', `metadata:\n  natter: '{os: ["darwin"], requires: {bins: ["memo"]}}'`],
    ['plain YAML', 'metadata:\n  natter:\n    os: [darwin]\n    requires:\n      bins:\n        - memo'],
  ])('%s', (_, lines) => expect(withFields(lines)).toMatchObject(mac));

  test.each(['natter', 'openclaw', 'clawdbot', 'moltbot', 'milaidy'])('under the name %s', (owner) => {
    expect(withFields(`metadata: {${owner}: {always: true}}`).always).toBe(true);
  });
  test('ours comes first', () => {
    expect(withFields('metadata: {openclaw: {emoji: "1"}, natter: {emoji: "2"}, milaidy: {emoji: "3"}}').emoji).toBe('2');
    expect(withFields('metadata: {milaidy: {emoji: "3"}, clawdbot: {emoji: "4"}}').emoji).toBe('4');
  });
  test('A15/169, 170: install specs, without those of a kind that nobody knows', () => {
    const specs = [
      '{id: brew, kind: brew, formula: memo, bins: [memo], label: Install memo}',
      '{kind: node, package: memo-cli}',
      '{kind: go, module: example.org/memo@latest}',
      '{kind: uv, package: memo}',
      `{kind: download, url: "https://a.example/memo.tgz", archive: tar.gz, targetDir: memo, sha256: ${'a'.repeat(64)}}`,
      '{kind: curl-pipe-sh, url: "https://evil.example"}',
      '{kind: download, sha256: nonsense}',
    ];
    const { install } = withFields(`metadata: {natter: {install: [${specs.join(', ')}]}}`);
    expect(install.map(({ kind }) => kind)).toEqual(['brew', 'node', 'go', 'uv', 'download']);
    expect(install[0]).toEqual({ id: 'brew', kind: 'brew', formula: 'memo', bins: ['memo'], label: 'Install memo', os: [] });
  });
});
