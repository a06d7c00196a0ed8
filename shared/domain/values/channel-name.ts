/** A channel's name as connectors write it: a person may write it with capitals, and with blanks around it (D11). */
export const channelNameOf = (text: string): string => text.trim().toLowerCase();
