/**
 * Estimates tokens where no provider has counted them: four characters each. About right for English and code, too low for
 * Chinese or Japanese, where an overflow is noticed in time only if the provider counts.
 */
export const charactersPerToken = 4;

export const estimatedTokens = (characters: number): number => Math.ceil(characters / charactersPerToken);
export const estimateTokens = (text: string): number => estimatedTokens(text.length);
