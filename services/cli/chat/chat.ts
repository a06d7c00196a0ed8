import pc from 'picocolors';
import {
  type Caller,
  type Cursor,
  NatterApiError,
  type NatterClient,
  type Session,
  type StreamItem,
} from '../../../shared/client/main.ts';
import { pause } from '../../../shared/client/pause.ts';
import { isTextBySpace } from '../../../shared/domain/routing/chat-help.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { printable } from '../../../shared/kit/scrub.ts';
import type { World } from '../terminal.ts';
import { wrapToWidth } from '../text/text-width.ts';
import { waitingNotes } from '../text/waiting-notes.ts';
import { dueReset, readEarlier, showEarlier } from './earlier.ts';
import { exportToFile } from './export-file.ts';
import { openKeyboard } from './keyboard.ts';
import { type Key, LineEditor } from './line-editor.ts';
import { answerIn, type Question } from './question.ts';
import { Screen } from './screen.ts';
import { SessionView } from './session-view.ts';
import { labels, typedLines } from './typed.ts';
import { completedWords, helpLines, isCommand, type Known, lineMeaning, sendingText } from './words.ts';

/** How long a message is sent again, with the same id, while the gateway is unavailable. */
const patienceMs = 10_000;
/** Time until events are asked for again after trouble that lasts. */
const againMs = 5_000;
/** What a second Ctrl-C would do was not read yet, this soon after the one that stopped an answer. */
const unreadMs = 1_000;

type ChatWorld = Pick<World, 'input' | 'now' | 'output' | 'terminal'>;

/**
 * A chat with one session: each line is sent at once, also while an answer streams, and everything the session says is shown above the prompt.
 * Ends with `/quit`, `quit`, `exit`, Ctrl-D, a second Ctrl-C, or the signal.
 */
export class Chat {
  readonly #client: NatterClient;
  readonly #key: string;
  readonly #known: Known;
  readonly #editor: LineEditor;
  readonly #screen: Screen;
  readonly #view: SessionView;
  readonly #ended = new AbortController();
  readonly #world: ChatWorld;
  /** Messages are sent one after the other, and events wait until the runs of these messages are known. */
  #posting: Promise<void> = Promise.resolve();
  /** The question that the prompt asks. It changes only while nothing is typed. */
  #prompted: Question | null = null;
  /** The turns that went on when Ctrl-C was pressed: the next Ctrl-C leaves. `null` when something was typed since, or another turn began. */
  #interrupted: ReadonlySet<string> | null = null;
  /** The words that Tab found, until the next key. */
  #choices: readonly string[] = [];
  /** When Ctrl-C stopped an answer last. */
  #stoppedAt = Number.NEGATIVE_INFINITY;

  constructor(world: ChatWorld, client: NatterClient, key: string, known: Known) {
    this.#world = world;
    this.#client = client;
    this.#key = key;
    this.#known = known;
    this.#editor = new LineEditor(completedWords(known));
    this.#screen = new Screen(world.output as NodeJS.WriteStream, this.#editor);
    this.#view = new SessionView(this.#screen);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { input, output, terminal } = this.#world;
    const { signal: ended } = this.#ended;
    const leave = (): void => this.#ended.abort();
    const [session, { actor }] = await Promise.all([this.#session(), this.#client.get<Caller>('/v1/me', { patienceMs })]);
    // What was said before stands above the first line that is typed.
    const earlier = session && (await readEarlier(this.#client, this.#key));
    if (signal.aborted) return;
    this.#view.signedInAs(actor);
    signal.addEventListener('abort', leave);
    const keyboard = openKeyboard(input, (sequence) => output.write(sequence), {
      onKey: (key) => this.#press(key),
      onEnd: leave,
    });
    const resized = (): void => this.#screen.repaint();
    output.on('resize', resized);
    terminal.divert((text) => this.#screen.print(...text.split('\n')));
    try {
      if (earlier !== null) showEarlier(earlier, { editor: this.#editor, screen: this.#screen, view: this.#view });
      const due = session && dueReset(session);
      if (due) this.#screen.print(...wrapToWidth(due, this.#screen.width).map(pc.dim));
      this.#refresh();
      await this.#follow(earlier?.events.at(-1)?.id ?? session?.seq ?? 0, ended);
    } finally {
      leave();
      signal.removeEventListener('abort', leave);
      output.off('resize', resized);
      terminal.divert(null);
      this.#screen.close();
      keyboard.close();
    }
  }

  async #session(): Promise<Session | null> {
    try {
      return await this.#client.sessions.get(this.#key, { patienceMs });
    } catch (error) {
      if (error instanceof NatterApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** Shows events until the chat ends. Trouble is told once, and the prompt stays. */
  async #follow(from: Cursor, signal: AbortSignal): Promise<void> {
    let after: Cursor = from;
    let told = '';
    const notes = waitingNotes((line) => this.#screen.print(line));
    for (;;) {
      try {
        for await (const item of this.#client.events({ key: this.#key, live: true, after, signal, ...notes })) {
          if ('id' in item) after = item.id;
          await this.#posting;
          this.#show(item);
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (told !== errorMessage(error)) this.#screen.print(pc.red(printable(errorMessage(error))));
        told = errorMessage(error);
      }
      await pause(againMs, signal);
    }
  }

  #show(item: StreamItem): void {
    this.#view.show(item);
    if (item.type === 'turn_started' && this.#interrupted?.has(item.turn.id) === false) this.#interrupted = null;
    this.#refresh();
  }

  /** What the prompt asks changes only between two lines, so that a `y` answers what was read. */
  #refresh(): void {
    if (this.#editor.text === '' && this.#prompted !== this.#view.asked) this.#prompted = this.#view.asked;
    this.#screen.setLabel(this.#prompted === null ? labels.you : labels.asked);
    const stopping = this.#view.isBusy ? 'Stopping the answer. ' : '';
    const hint = this.#interrupted === null ? this.#choices : [`${stopping}Ctrl-C again ${this.#known.leaving}.`];
    this.#screen.setHint(...hint.flatMap((line) => wrapToWidth(line, this.#screen.width)).map(pc.dim));
    this.#screen.repaint();
  }

  #press(key: Key): void {
    const pressed = this.#editor.press(key);
    if (pressed.type === 'interrupt') return this.#interrupt();
    this.#interrupted = null;
    this.#choices = pressed.type === 'choices' ? [pressed.words.join('  ')] : [];
    if (pressed.type === 'end') return this.#leave();
    if (pressed.type === 'clear') return this.#screen.clear();
    if (pressed.type === 'line') this.#say(pressed.text);
    if (pressed.type !== 'pasting') this.#refresh();
  }

  /** The first Ctrl-C stops the answer, or takes away what is typed where there is none; the second one leaves. */
  #interrupt(): void {
    const now = this.#world.now();
    if (this.#interrupted !== null) return now - this.#stoppedAt < unreadMs ? undefined : this.#ended.abort();
    this.#interrupted = this.#view.active;
    this.#stoppedAt = this.#view.isBusy ? now : Number.NEGATIVE_INFINITY;
    if (this.#view.isBusy) this.#send('/stop');
    else this.#editor.clear();
    this.#refresh();
  }

  #leave(): void {
    if (this.#view.asked !== null) this.#screen.print(pc.dim('The call still waits for your answer; the next chat asks again.'));
    this.#ended.abort();
  }

  #say(text: string): void {
    const prompted = this.#prompted;
    if (text.trim() === '') return;
    this.#screen.print(...typedLines(text, prompted === null ? labels.you : labels.asked));
    const answer = prompted === null ? null : answerIn(text, prompted);
    if (answer !== null) {
      if (this.#view.asked?.approvalId === prompted?.approvalId) return this.#send(answer);
      return this.#screen.print(pc.dim('It was answered elsewhere.'));
    }
    this.#take(text);
  }

  #take(text: string): void {
    const line = lineMeaning(text, this.#known);
    switch (line.type) {
      case 'leave':
        return this.#leave();
      case 'help':
        return this.#screen.print(...helpLines(this.#known, this.#screen.width));
      case 'clear':
        return this.#screen.clear();
      case 'export':
        return this.#tell(exportToFile(this.#client, this.#key, line), 'Not exported');
      case 'sending':
        return this.#tell(
          this.#session().then((session) => sendingText(session?.settings.sendPolicy)),
          'Not known',
        );
      case 'refused':
        return this.#screen.print(...wrapToWidth(printable(line.why), this.#screen.width).map(pc.yellow));
      case 'send':
        this.#send(line.text);
        if (this.#prompted === null || this.#prompted !== this.#view.asked || isCommand(line.text, this.#known)) return;
        return this.#screen.print(pc.dim('That is a message: the call still waits for y or n.'));
    }
  }

  #tell(text: Promise<string>, failed: string): void {
    const sorry = (error: unknown): void => this.#screen.print(pc.red(printable(`${failed}: ${errorMessage(error)}`)));
    void text.then((told) => this.#screen.print(...printable(told).split('\n')), sorry);
  }

  #send(text: string): void {
    this.#posting = this.#posting.then(() => this.#post(text));
  }

  async #post(text: string): Promise<void> {
    const { signal } = this.#ended;
    try {
      const message = isTextBySpace(text) ? { text, commands: false } : text;
      const { runId } = await this.#client.sessions.post(this.#key, message, { patienceMs, signal });
      this.#view.begun(runId);
    } catch (error) {
      if (!signal.aborted)
        this.#screen.print(pc.red(printable(`Not sent: ${errorMessage(error)}`)), pc.dim('↑ brings the line back.'));
    }
  }
}
