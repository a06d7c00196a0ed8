import { signal } from '@preact/signals';

/** Whether the keys of the whole page are on: who speaks to the computer, or presses keys by accident, can switch them off. */

const stored = 'natter-shortcuts';
export const areShortcutsOn = signal(localStorage.getItem(stored) !== 'off');

export const switchShortcuts = (isOn: boolean): void => {
  areShortcutsOn.value = isOn;
  localStorage.setItem(stored, isOn ? 'on' : 'off');
};

export const isHelpOpen = signal(false);
/** Opens the list of the keys. */
export const showShortcuts = (): void => {
  isHelpOpen.value = true;
};
