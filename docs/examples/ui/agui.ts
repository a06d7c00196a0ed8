/**
 * A chat with Natter by AG-UI, without a framework. In a page with `<main></main>`, bundled by whatever you use:
 * npm install @ag-ui/client. The page's origin belongs in `gateway.allowedOrigins`.
 */
import { HttpAgent } from '@ag-ui/client';

const main = document.querySelector('main') ?? document.body;
const list = document.createElement('ol');
const form = document.createElement('form');
const input = document.createElement('input');
input.placeholder = 'Message';
form.append(input);
main.append(list, form);

const agent = new HttpAgent({
  url: 'http://127.0.0.1:4600/v1/agui',
  // A token that may be in this page: not the owner's.
  headers: { Authorization: `Bearer ${sessionStorage.getItem('natter')}` },
  threadId: 'main',
});

const show = (): void => {
  const items = agent.messages.map(({ role, content }) => {
    const item = document.createElement('li');
    // As text: what a model says is no HTML.
    item.textContent = `${role}: ${typeof content === 'string' ? content : '…'}`;
    return item;
  });
  list.replaceChildren(...items);
};
agent.subscribe({ onMessagesChanged: show });

/** Runs until nothing is asked: an interrupt is an approval, answered with the next run. */
const run = async (): Promise<void> => {
  form.inert = true;
  try {
    await agent.runAgent();
    while (agent.pendingInterrupts.length > 0) {
      const resume = agent.pendingInterrupts.map(({ id: interruptId, message }) => {
        return { interruptId, status: 'resolved' as const, payload: { approved: confirm(message) } };
      });
      await agent.runAgent({ resume });
    }
  } finally {
    form.inert = false;
    show();
  }
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: input.value });
  input.value = '';
  void run();
});

// A run without messages: what was said so far, and the turn that goes on.
void run();
