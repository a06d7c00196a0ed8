/** Hands a file to the browser to be saved: never to be shown, whatever is in it. */
export const saveFile = (name: string, content: BlobPart, type: string): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
