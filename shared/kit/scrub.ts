/**
 * The last step of every log line (I12). Whatever a serializer let through: no known secret, nothing shaped like a token, and no
 * character that a terminal or a line-based reader would interpret leaves the process. Works on finished JSON text and keeps it
 * valid.
 */
const hidden = '[secret]';

/** Credential patterns, each with its replacement. None of them can match a quote or a backslash, so that JSON stays valid. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${hidden}`],
  [/(:\/\/)[^\s"\\/@]+@/g, `$1${hidden}@`],
  [/([?&;](?:[a-z_-]*(?:token|ticket|key|secret|password|passwd|auth|signature|sig|code)))=[^\s"\\&;#]+/gi, `$1=${hidden}`],
  // But for what the log calls a page's token, which is a name: `token:page:owner:a6bp5tq5ec46`.
  [
    /\b(api[_-]?key|password|passwd|secret|token(?!:page:[a-z0-9-]{1,64}:[a-z0-9]{12}(?![\w-])))(\s*[=:]\s*)[^\s"\\,;&[]{6,}/gi,
    `$1$2${hidden}`,
  ],
  [/\bnatter_[A-Za-z0-9_-]{20,}/g, hidden],
  [/\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g, hidden],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}/g, hidden],
  [/\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}/g, hidden],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}/g, hidden],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, hidden],
  [/\bS[UAONCX][A-Z2-7]{54,56}\b/g, hidden],
  // Telegram's, which its addresses have behind `bot`.
  [/(?<!\d)\d{8,10}:[\w-]{35}\b/g, hidden],
  // Addresses that are keys themselves.
  [/(\bhooks\.slack\.com\/)[^\s"\\]+/g, `$1${hidden}`],
  [/(\bdiscord(?:app)?\.com\/api\/webhooks\/)[^\s"\\]+/g, `$1${hidden}`],
  [/\b[MNO][A-Za-z\d_-]{23,25}\.[\w-]{6}\.[\w-]{27,}/g, hidden],
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove; line feeds and tabs stay.
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text safe for a terminal: removes characters that move the cursor, change colours, beep or change the writing
 * direction. Keeps line feeds and tabs.
 */
export const printable = (text: string): string => text.replace(control, '');

/** Like `printable`, but for finished JSON, where nothing may be lost: the characters become escapes. */
export const escapeControls = (json: string): string =>
  json.replace(control, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Every form in which a secret may occur in a line: as it is, in JSON, in JSON quoted by a message, in a URL, in base64. */
const formsOf = (secret: string): string[] => [
  secret,
  escaped(secret),
  escaped(escaped(secret)),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
];

/** Shorter secrets are not hidden: hiding every `ab` would hide the log itself. */
const secretCharacters = 6;

/** All forms of these secrets. Longest first: hiding a secret that is a prefix of another must not leave the rest of the longer one. */
const formsOfAll = (secrets: readonly string[]): string[] =>
  [...new Set(secrets.filter((secret) => secret.length >= secretCharacters).flatMap(formsOf))].sort(
    (one, other) => other.length - one.length,
  );

/** Returns a function that hides these secrets and changes nothing else: for text that a model reads or writes. */
export const secretHider = (secrets: readonly string[]): ((text: string) => string) => {
  const forms = formsOfAll(secrets);
  return (text) => forms.reduce((clean, form) => (clean.includes(form) ? clean.replaceAll(form, hidden) : clean), text);
};

/** Secrets prepared for streams, of which there may be many. */
export class SecretForms {
  readonly all: readonly string[];
  readonly firsts: ReadonlySet<string | undefined>;

  constructor(secrets: readonly string[]) {
    this.all = formsOfAll(secrets);
    this.firsts = new Set(this.all.map(([first]) => first));
  }
}

/** Hides secrets in text that comes in pieces: what may be the beginning of one waits for the piece after it. */
export class SecretStream {
  readonly #forms: readonly string[];
  readonly #firsts: ReadonlySet<string | undefined>;
  #kept = '';

  constructor({ all, firsts }: SecretForms) {
    this.#forms = all;
    this.#firsts = firsts;
  }

  /** Takes a piece, and returns the text that can be shown now. */
  push(piece: string): string {
    const text = this.#kept + piece;
    let clean = '';
    let at = 0;
    for (; at < text.length; ) {
      const rest = this.#firsts.has(text[at]) ? text.slice(at) : '';
      if (rest !== '' && this.#forms.some((form) => form.length > rest.length && form.startsWith(rest))) break;
      const secret = rest === '' ? undefined : this.#forms.find((form) => rest.startsWith(form));
      clean += secret === undefined ? text[at] : hidden;
      at += secret?.length ?? 1;
    }
    this.#kept = text.slice(at);
    return clean;
  }

  /** The rest of the text, when no piece follows. */
  end(): string {
    const rest = this.#forms.reduce((clean, form) => clean.replaceAll(form, hidden), this.#kept);
    this.#kept = '';
    return rest;
  }
}

/** A scrubber for log lines. Its result contains no known secret, no token pattern and no control character. */
export const scrubber = (secrets: readonly string[]): ((line: string) => string) => {
  const hide = secretHider(secrets);
  return (line) => shapes.reduce((clean, [shape, rest]) => clean.replace(shape, rest), hide(printable(line)));
};
