import type { AbstractChat, ChatInit, UIMessage } from 'ai';

/** What `@ai-sdk/react` 3 exports of its hook, in terms of the package that is installed here. */
export declare const useChat: (init: ChatInit<UIMessage>) => Pick<
  AbstractChat<UIMessage>,
  'messages' | 'status' | 'error' | 'sendMessage' | 'addToolApprovalResponse' | 'resumeStream' | 'regenerate' | 'stop'
> & {
  setMessages(messages: UIMessage[] | ((messages: UIMessage[]) => UIMessage[])): void;
};
