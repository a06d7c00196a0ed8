/**
 * A chat with Natter by the AI SDK, as a component of React: npm install ai @ai-sdk/react. The page's origin belongs in
 * `gateway.allowedOrigins`.
 */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { useEffect, useState } from 'react';

const gateway = 'http://127.0.0.1:4600';

/** `id`: a session key, or an id of its own. `token`: one that may be in this page, not the owner's. */
export const NatterChat = ({ id, token }: { id: string; token: string }) => {
  const headers = { authorization: `Bearer ${token}` };
  const [text, setText] = useState('');
  const { messages, setMessages, sendMessage, addToolApprovalResponse, resumeStream, status, error } = useChat({
    id,
    transport: new DefaultChatTransport({
      api: `${gateway}/v1/ui/chat`,
      headers,
      // The history is the session's: the last message is enough.
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => {
        return { body: { id, messages: messages.slice(-1), trigger, messageId } };
      },
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });

  // What was said so far, then the turn that goes on.
  useEffect(() => {
    const load = async (): Promise<void> => {
      const answer = await fetch(`${gateway}/v1/ui/chat/${encodeURIComponent(id)}/messages`, { headers });
      if (answer.ok) setMessages(((await answer.json()) as { messages: UIMessage[] }).messages);
      await resumeStream();
    };
    void load();
  }, [id]);

  return (
    <main>
      <ol>
        {messages.map((message) => (
          <li key={message.id}>
            {message.parts.map((part, index) => {
              if (part.type === 'text') return <p key={index}>{part.text}</p>;
              if (!isToolUIPart(part) || part.state !== 'approval-requested') return null;
              const answer = (approved: boolean) => () => void addToolApprovalResponse({ id: part.approval.id, approved });
              return (
                <p key={index}>
                  {JSON.stringify(part.input)}{' '}
                  <button type="button" onClick={answer(true)}>
                    Allow
                  </button>
                  <button type="button" onClick={answer(false)}>
                    Deny
                  </button>
                </p>
              );
            })}
          </li>
        ))}
      </ol>
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
          setText('');
        }}
      >
        <input value={text} onChange={(event) => setText(event.currentTarget.value)} />
        <button type="submit" disabled={status === 'streaming'}>
          Send
        </button>
      </form>
    </main>
  );
};
