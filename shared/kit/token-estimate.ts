/**
 * Tokens where no provider has counted them: four characters each. About right for English and code, too few for Chinese or Japanese: there
 * only a provider that counts keeps the window from overflowing before it is noticed.
 */
export const charactersPerToken = 4;

export const estimatedTokens = (characters: number): number => Math.ceil(characters / charactersPerToken);
export const estimateTokens = (text: string): number => estimatedTokens(text.length);
