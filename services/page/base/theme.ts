import { signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const stored = 'natter-theme';
const isTheme = (text: string | null): text is Theme => (themes as readonly (string | null)[]).includes(text);

export const theme = signal<Theme>('system');

export const chooseTheme = (chosen: Theme): void => {
  theme.value = chosen;
  document.documentElement.dataset.theme = chosen;
  localStorage.setItem(stored, chosen);
};

export const restoreTheme = (): void => {
  const kept = localStorage.getItem(stored);
  if (isTheme(kept)) chooseTheme(kept);
};
