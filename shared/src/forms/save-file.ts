import { toSafeFileName } from "../api/index.ts";

/**
 * Saves bytes as a download, with the safe form of a name. The generic media type keeps the browser
 * from opening or running the file.
 */
export function saveFile(name: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = toSafeFileName(name);
  document.body.append(link);
  link.click();
  link.remove();
  // Browsers read the URL after the click, in much less than a minute.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}
