/**
 * Hands bytes to the browser's downloads. Its media type is generic, so that the browser never
 * opens or runs it.
 */
export function saveFile(name: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the address after the click; a minute is more than it needs.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}
