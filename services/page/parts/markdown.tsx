import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';
import { render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import remend from 'remend';
import { CopyButton } from './copy-button.tsx';

/**
 * What a model or a person wrote, as Markdown. All of it is hostile: raw HTML is shown as text before the sanitiser sees it, an image is its
 * address as text and never loaded, and a link leads to the web or to mail.
 */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const leads = (address: string): boolean => /^(https?:|mailto:)/i.test(address);

const marked = new Marked({ gfm: true, breaks: true, async: false });
marked.use({
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ href, text }: Tokens.Image) => `<span class="no-image">${escaped(text)} (${escaped(href)})</span>`,
    link({ href, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      return leads(href) ? `<a href="${escaped(href)}" rel="noopener noreferrer nofollow" target="_blank">${text}</a>` : text;
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
});

const allowed = {
  ALLOWED_TAGS:
    'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre span strong table tbody td th thead tr ul'.split(' '),
  ALLOWED_ATTR: ['href', 'rel', 'target', 'class', 'start', 'align'],
  RETURN_TRUSTED_TYPE: true,
} as const;

/** Longer texts are shown as they are: parsing them would stop the page. */
const longestCharacters = 200_000;

/** Sanitised HTML, of the browser's trusted type. `growing`: the text is not finished, so what is open in it is closed. */
const htmlOf = (text: string, growing: boolean): string => {
  const parsed = marked.parse(growing ? remend(text) : text) as string;
  return DOMPurify.sanitize(parsed, {
    ...allowed,
    ALLOWED_TAGS: [...allowed.ALLOWED_TAGS],
    ALLOWED_ATTR: [...allowed.ALLOWED_ATTR],
  }) as unknown as string;
};

/** Puts a button that copies it over a block of code. Returns what takes the button away. */
const withCopyButton = (pre: HTMLPreElement): (() => void) => {
  const [box, place] = [document.createElement('div'), document.createElement('span')];
  box.className = 'code';
  pre.replaceWith(box);
  box.append(pre, place);
  render(<CopyButton text={pre.textContent.replace(/\n$/, '')} what="this code" />, place);
  return () => render(null, place);
};

interface MarkdownProps {
  readonly text: string;
  readonly growing?: boolean;
}

export const Markdown = ({ text, growing = false }: MarkdownProps) => {
  const element = useRef<HTMLDivElement>(null);
  const isLong = text.length > longestCharacters;
  useLayoutEffect(() => {
    if (!element.current || isLong) return undefined;
    element.current.innerHTML = htmlOf(text, growing);
    if (growing) return undefined;
    // What scrolls must be reached by the keyboard.
    for (const box of element.current.querySelectorAll<HTMLElement>('pre, table')) box.tabIndex = 0;
    const removals = Array.from(element.current.querySelectorAll('pre'), withCopyButton);
    return () => {
      for (const remove of removals) remove();
    };
  }, [text, growing, isLong]);
  return isLong ? <pre class="prose">{text}</pre> : <div class="prose" ref={element} />;
};
