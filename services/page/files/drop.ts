import { addFiles, takesFiles } from './chosen-files.ts';

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true;

/** Takes files that are dropped onto an element, while somebody may write there. It is marked while they are over it. */
export const takeDrops = (key: string, field: { readonly current: HTMLElement | null }) => {
  const isWanted = (event: DragEvent): boolean => hasFiles(event) && field.current !== null && takesFiles();
  const mark = ({ currentTarget }: DragEvent, isOver: boolean): void => {
    (currentTarget as HTMLElement).toggleAttribute('data-takes-files', isOver);
  };
  return {
    onDragOver: (event: DragEvent) => {
      if (!isWanted(event)) return;
      event.preventDefault();
      mark(event, true);
    },
    onDragLeave: (event: DragEvent) => {
      // What is left for a part of the element is not left.
      if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) mark(event, false);
    },
    onDrop: (event: DragEvent) => {
      mark(event, false);
      if (!isWanted(event)) return;
      event.preventDefault();
      addFiles(key, event.dataTransfer?.files ?? []);
      field.current?.focus();
    },
  };
};

/** Files in the clipboard. A program that copies text with a picture of it means the text. */
export const takePasted = (key: string, event: ClipboardEvent): void => {
  const { clipboardData } = event;
  if (!clipboardData?.files.length || clipboardData.types.includes('text/plain') || !takesFiles()) return;
  event.preventDefault();
  addFiles(key, clipboardData.files);
};

/** A file that is dropped where nobody takes it would lead the browser away from the page. */
export const refuseOtherDrops = (): void => {
  for (const type of ['dragover', 'drop'] as const)
    addEventListener(type, (event) => {
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
    });
};
