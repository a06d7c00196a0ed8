import pc from 'picocolors';
import { type Cursor, NatterApiError, type NatterClient, type Session, type StreamItem } from '../../../shared/client/main.ts';
import { pause } from '../../../shared/client/pause.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import { printable } from '../../../shared/kit/scrub.ts';
import { counted } from '../../../shared/kit/text/counted.ts';
import { oneLine, type World } from '../terminal.ts';
import { wrapToWidth } from '../text/text-width.ts';
import { exportToFile } from './export-file.ts';
import { openKeyboard } from './keyboard.ts';
import { type Key, LineEditor } from './line-editor.ts';
import { answerIn, type Question } from './question.ts';
import { Screen } from './screen.ts';
import { SessionView } from './session-view.ts';
import { completedWords, helpLines, type Known, lineMeaning } from './words.ts';

const labels = { you: pc.bold('you> '), asked: pc.yellow('allow? ') } as const;
/** How long a message is sent again, with the same id, while the gateway is unavailable. */
const patienceMs = 10_000;
/** Time until events are asked for again after trouble that lasts. */
const againMs = 5_000;
/** Commits before the last one that are searched for what was said before. */
const earlierCommits = 100;
const earlierMessages = 4;

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
  readonly #world: Pick<World, 'input' | 'output' | 'terminal'>;
  /** Messages are sent one after the other, and events wait until the runs of these messages are known. */
  #posting: Promise<void> = Promise.resolve();
  /** The question that the prompt asks. It changes only while nothing is typed. */
  #prompted: Question | null = null;
  #mayLeave = false;
  #isWaiting = false;

  constructor(world: Pick<World, 'input' | 'output' | 'terminal'>, client: NatterClient, key: string, known: Known) {
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
    const session = await this.#session();
    if (signal.aborted) return;
    signal.addEventListener('abort', leave);
    const keyboard = openKeyboard(input, (sequence) => output.write(sequence), {
      onKey: (key) => this.#press(key),
      onEnd: leave,
    });
    const resized = (): void => this.#screen.repaint();
    output.on('resize', resized);
    terminal.divert((text) => this.#screen.print(...text.split('\n')));
    try {
      await this.#begin(session);
      await this.#follow(session?.seq ?? 0, ended);
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

  /** Shows the end of what was said before, and what waits for an answer. */
  async #begin(session: Session | null): Promise<void> {
    this.#refresh();
    if (session === null) return;
    const { seq, status } = session;
    const said = [];
    // Natter's own messages to the model are not for people.
    for await (const message of this.#client.sessions.messages(this.#key, { after: Math.max(0, seq - earlierCommits) }))
      if (message.sender?.id !== 'natter') said.push(message);
    for (const { role, text } of said) if (role === 'user') this.#editor.remember(text);
    if (said.length > earlierMessages || seq > earlierCommits)
      this.#screen.print(pc.dim('The last of what was said; /export FILE writes all of it, and the page shows it.'));
    for (const { role, text, sender } of said.slice(-earlierMessages)) {
      const who = role === 'user' ? (sender?.name ?? sender?.id ?? 'api') : 'agent';
      // Who writes over the API with the installation's own token is most likely at this terminal.
      this.#screen.print(pc.dim(oneLine(`${who === 'api' ? 'you' : who}: ${text}`, this.#screen.width)));
    }
    if (status === 'running') this.#view.runsAlready('earlier');
    if (status !== 'awaiting_approval') return;
    for await (const pending of this.#client.approvals.list()) if (pending.sessionKey === this.#key) this.#view.asks(pending);
    this.#refresh();
  }

  /** Shows events until the chat ends. Trouble is told once, and the prompt stays. */
  async #follow(from: number, signal: AbortSignal): Promise<void> {
    let after: Cursor = from;
    let told = '';
    const onWaiting = (reason: string): void => {
      if (!this.#isWaiting) this.#screen.print(pc.yellow(printable(`waiting for the gateway: ${reason}`)));
      this.#isWaiting = true;
    };
    for (;;) {
      try {
        for await (const item of this.#client.events({ key: this.#key, live: true, after, signal, onWaiting })) {
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
    if (this.#isWaiting) this.#screen.print(pc.green('the gateway is back'));
    this.#isWaiting = false;
    this.#view.show(item);
    this.#refresh();
  }

  /** What the prompt asks changes only between two lines, so that a `y` answers what was read. */
  #refresh(): void {
    if (this.#editor.text === '' && this.#prompted !== this.#view.asked) this.#prompted = this.#view.asked;
    this.#screen.setLabel(this.#prompted === null ? labels.you : labels.asked);
    const stopping = this.#view.isBusy ? 'Stopping the answer. ' : '';
    this.#screen.setHint(this.#mayLeave ? pc.dim(`${stopping}Ctrl-C again leaves.`) : null);
    this.#screen.repaint();
  }

  #press(key: Key): void {
    const pressed = this.#editor.press(key);
    if (pressed.type === 'interrupt') return this.#interrupt();
    this.#mayLeave = false;
    if (pressed.type === 'end') return this.#ended.abort();
    if (pressed.type === 'clear') return this.#screen.clear();
    if (pressed.type === 'line') this.#say(pressed.text);
    if (pressed.type !== 'pasting') this.#refresh();
  }

  /** The first Ctrl-C stops the answer and takes away what is typed, the second one leaves. */
  #interrupt(): void {
    if (this.#mayLeave) return this.#ended.abort();
    this.#mayLeave = true;
    this.#editor.clear();
    if (this.#view.isBusy) this.#send('/stop');
    this.#refresh();
  }

  #say(text: string): void {
    const prompted = this.#prompted;
    const label = prompted === null ? labels.you : labels.asked;
    if (text.trim() === '') return;
    this.#screen.print(
      ...printable(text)
        .split('\n')
        .map((line, index) => `${index === 0 ? label : '     '}${line}`),
    );
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
        return this.#ended.abort();
      case 'help':
        return this.#screen.print(...helpLines(this.#known, this.#screen.width));
      case 'clear':
        return this.#screen.clear();
      case 'export':
        void this.#export(line.file);
        return;
      case 'unknown': {
        const near = line.near === null ? '' : ` Did you mean ${line.near}?`;
        const said = `There is no command ${printable(line.word)}.${near} /help lists them; with a space before it, it is text.`;
        return this.#screen.print(...wrapToWidth(said, this.#screen.width).map(pc.yellow));
      }
      case 'send':
        return this.#send(line.text);
    }
  }

  async #export(file: string): Promise<void> {
    try {
      const { path, messages } = await exportToFile(this.#client, this.#key, file);
      this.#screen.print(printable(`${counted(messages, 'message')} in ${path}`));
    } catch (error) {
      this.#screen.print(pc.red(printable(`Not exported: ${errorMessage(error)}`)));
    }
  }

  #send(text: string): void {
    this.#posting = this.#posting.then(() => this.#post(text));
  }

  async #post(text: string): Promise<void> {
    const { signal } = this.#ended;
    try {
      const { runId } = await this.#client.sessions.post(this.#key, text, { patienceMs, signal });
      this.#view.begun(runId);
    } catch (error) {
      if (!signal.aborted)
        this.#screen.print(pc.red(printable(`Not sent: ${errorMessage(error)}`)), pc.dim('↑ brings the line back.'));
    }
  }
}
