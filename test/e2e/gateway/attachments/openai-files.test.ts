import type OpenAI from 'openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { onceForFile } from '../../../support/afterwards.ts';
import { dataUrl, digestOf, pdf, png, wav } from '../../../support/files.ts';
import { anthropic, type Dialect, openai as openaiDialect, startProvider, stream } from '../../../support/provider-server.ts';
import { modelsAt } from '../../../unit/adapters/model/rig.ts';
import { startWhole, type Whole } from '../../system/whole.ts';
import { clientFor, failureOf, user } from '../protocols/openai-rig.ts';

/** ADR 27: images, sounds and files in OpenAI's interface, with the official client, unmodified. */

type Parts = Exclude<OpenAI.ChatCompletionUserMessageParam['content'], string>;
const saying = (...content: Parts) => ({ role: 'user', content }) as const;
const text = (said: string) => ({ type: 'text', text: said }) as const;
const image = (content = png) => ({ type: 'image_url', image_url: { url: dataUrl('image/png', content) } }) as const;
const document = { type: 'file', file: { file_data: dataUrl('application/pdf', pdf), filename: 'plan.pdf' } } as const;
const sound = { type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } } as const;
const keyIn = ({ headers }: Response): string => decodeURIComponent(headers.get('x-natter-session') ?? '');
const attachmentsIn = async (whole: Whole, key: string) =>
  (await whole.eventsOf(key, 'user_message')).flatMap(({ message }) => message.attachments ?? []);

/** A system whose model is at a provider that answers in this dialect. */
const withProvider = async (dialect: Dialect) => {
  const provider = await startProvider(stream(dialect.begin(), dialect.text('a pixel'), dialect.end('stop')));
  onTestFinished(provider.close);
  const whole = await startWhole({ model: modelsAt({ local: { dialect, url: provider.url } })('local/tiny') });
  return { provider, whole, openai: clientFor(whole.gateways[0]?.url ?? '') };
};

describe('what the model is given', () => {
  test('an OpenAI-compatible one gets images, sounds and documents as it knows them, also with the next message', async () => {
    const { provider, whole, openai } = await withProvider(openaiDialect);
    const first = saying(text('What is this?'), image(), document, sound);
    const { data, response } = await openai.chat.completions.create({ model: 'natter', messages: [first] }).withResponse();
    expect(data.choices[0]?.message.content).toBe('a pixel');
    const given = provider.requests[0]?.body.messages.at(-1).content;
    expect(given.slice(1)).toEqual([
      { type: 'image_url', image_url: { url: dataUrl('image/png', png) } },
      { type: 'file', file: { filename: 'plan.pdf', file_data: dataUrl('application/pdf', pdf) } },
      { type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } },
    ]);
    expect(given[0].text).toMatch(/^What is this\?\n\[Attached: a file, image\/png, 68 bytes; plan\.pdf, /);
    // The log refers to them; what is in them is stored once.
    const key = keyIn(response);
    expect(await attachmentsIn(whole, key)).toEqual([
      { type: 'image/png', bytes: png.length, digest: digestOf(png) },
      { type: 'application/pdf', bytes: pdf.length, digest: digestOf(pdf), name: 'plan.pdf' },
      { type: 'audio/wav', bytes: wav.length, digest: digestOf(wav), name: 'audio.wav' },
    ]);
    const answer = { role: 'assistant', content: 'a pixel' } as const;
    const next = await openai.chat.completions
      .create({ model: 'natter', messages: [first, answer, user('Sure?')] })
      .withResponse();
    expect(keyIn(next.response), 'the same conversation').toBe(key);
    expect(provider.requests[1]?.body.messages.slice(-3)[0].content.slice(1)).toEqual(given.slice(1));
  });

  test('one of Anthropic gets what it takes, and is told of the rest', async () => {
    const { provider, openai } = await withProvider(anthropic);
    await openai.chat.completions.create({ model: 'natter', messages: [saying(text('Look'), image(), document, sound)] });
    const [said, ...given] = provider.requests[0]?.body.messages.at(-1).content ?? [];
    expect(given).toMatchObject([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') } },
    ]);
    expect(said.text).toContain('[You cannot see audio.wav: you take no files of type audio/wav.]');
  });
});

// Each test has sessions of its own.
const system = onceForFile(async () => {
  const whole = await startWhole({ more: { attachments: { maxMegabytes: 1, perMessage: 2, types: ['image/*', 'text/plain'] } } });
  return { whole, openai: clientFor(whole.gateways[0]?.url ?? '') };
});

describe('what is taken', () => {
  test('responses take the same; the offline model says what it got', async () => {
    const { whole, openai } = system();
    const input = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: dataUrl('image/png', png), detail: 'auto' },
          { type: 'input_file', file_data: dataUrl('text/plain', Buffer.from('a line')), filename: 'note.txt' },
        ],
      },
    ] satisfies OpenAI.Responses.ResponseInput;
    const { data, response } = await openai.responses.create({ model: 'natter', input }).withResponse();
    const line = '[Attached: a file, image/png, 68 bytes; note.txt, text/plain, 6 bytes]';
    expect(data.output_text).toBe(`You said: Look\n${line}`);
    expect((await attachmentsIn(whole, keyIn(response))).map(({ digest }) => digest)).toEqual([
      digestOf(png),
      digestOf(Buffer.from('a line')),
    ]);
  });

  test('I2: the same call with the same key again is the same run, and stores nothing again', async () => {
    const { whole, openai } = system();
    const ask = () =>
      openai.chat.completions
        .create({ model: 'natter', messages: [saying(image())] }, { headers: { 'idempotency-key': 'same' } })
        .withResponse();
    const [first, again] = [await ask(), await ask()];
    expect(again.data.id).toBe(first.data.id);
    expect(first.data.choices[0]?.message.content).toMatch(/^You said: \[Attached: /);
    const key = keyIn(first.response);
    expect(await whole.eventsOf(key, 'user_message')).toHaveLength(1);
    expect(await whole.memory.portsFor('test').attachments.of(key as never)).toHaveLength(1);
  });

  test('what was said before, with its files, is remembered before the message of a new session', async () => {
    const { whole, openai } = system();
    const before = [saying(text('Look'), image()), { role: 'assistant', content: 'I did' } as const];
    const { response } = await openai.chat.completions
      .create({ model: 'natter', messages: [...before, user('And?')] })
      .withResponse();
    const [told, asked] = await whole.eventsOf(keyIn(response), 'user_message');
    expect(told?.message.attachments).toEqual([{ type: 'image/png', bytes: png.length, digest: digestOf(png) }]);
    expect(asked?.message).not.toHaveProperty('attachments');
  });

  test.each<[string, Parts, RegExp]>([
    [
      'an address',
      [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }],
      /content\.0: addresses are not fetched; send/,
    ],
    ['an uploaded file', [{ type: 'file', file: { file_id: 'file-1' } }], /content\.0: send the file itself, as a data URL/],
    ['what is no base64', [{ type: 'image_url', image_url: { url: 'data:image/png;base64,%%' } }], /is not valid base64/],
    [
      'what is no image',
      [{ type: 'image_url', image_url: { url: dataUrl('image/png', pdf) } }],
      /is not what its type says, image\/png/,
    ],
    [
      'a type that is not allowed',
      [sound],
      /messages: audio\.wav is of type audio\/wav; those taken are .*\(attachments\.types\)/,
    ],
    ['too many', [image(), image(), image()], /messages: has 3 files; send at most 2 \(attachments\.perMessage\)/],
    ['an unknown part', [{ type: 'video' } as never], /content\.0: is not known; use a text, an image, a sound or a file/],
  ])('%s is refused with the field and the fix', async (_, content, message) => {
    const failure = await failureOf(system().openai.chat.completions.create({ model: 'natter', messages: [saying(...content)] }));
    expect(failure.status).toBe(400);
    expect(failure.message).toMatch(message);
  });

  test('I11: too large a file, or a body that is larger than any, is refused as such', async () => {
    const { openai } = system();
    const large = Buffer.concat([png, Buffer.alloc(1024 ** 2)]);
    const ask = (...parts: Parts) => failureOf(openai.chat.completions.create({ model: 'natter', messages: [saying(...parts)] }));
    const one = await ask(image(large));
    expect([one.status, one.message]).toEqual([413, expect.stringMatching(/its files have 1\.0 MB; send at most 1 MB/)]);
    const several = await ask(image(large), image(large), image(large));
    expect([several.status, several.message]).toEqual([413, expect.stringMatching(/body: is larger than 2 MB; send fewer/)]);
  });
});
