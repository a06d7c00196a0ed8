import { AbstractChat, type ChatInit, type ChatState, type UIMessage } from 'ai';

/** The state of a chat as a framework would keep it: each change is told. */
class State implements ChatState<UIMessage> {
  readonly #changed: () => void;
  #values: Pick<ChatState<UIMessage>, 'status' | 'error' | 'messages'>;

  constructor(messages: UIMessage[], changed: () => void) {
    this.#values = { status: 'ready', error: undefined, messages };
    this.#changed = changed;
  }
  #set(change: Partial<ChatState<UIMessage>>): void {
    this.#values = { ...this.#values, ...change };
    this.#changed();
  }
  get status() {
    return this.#values.status;
  }
  set status(status) {
    this.#set({ status });
  }
  get error() {
    return this.#values.error;
  }
  set error(error) {
    this.#set({ error });
  }
  get messages() {
    return this.#values.messages;
  }
  set messages(messages) {
    this.#set({ messages });
  }
  pushMessage = (message: UIMessage) => this.#set({ messages: [...this.messages, message] });
  popMessage = () => this.#set({ messages: this.messages.slice(0, -1) });
  replaceMessage = (index: number, message: UIMessage) =>
    this.#set({ messages: this.messages.with(index, structuredClone(message)) });
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

/** The client's own chat, as the bindings of all frameworks derive theirs. */
export class Chat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>, changed: () => void = () => {}) {
    super({ ...init, state: new State(messages, changed) });
  }
}
