import { maxFileBytes, maxSmallContentBytes } from "@relicario/shared/api";

import { decodeText } from "./decode.ts";
import { ItemCollector } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";

/** A file, with its path in the chosen folder. */
export interface ChosenFile {
  readonly path: string;
  readonly content: Blob;
}

export function isTextFile({ path }: ChosenFile): boolean {
  return /\.(?:txt|md|markdown|text)$/i.test(path);
}

/**
 * Turns each text file of a folder into a secret that has the folder names as tags. A text file
 * that is too large for a text becomes a file. Reports and skips other files.
 */
export async function readTextFiles(
  files: readonly ChosenFile[],
  texts: ImportTexts,
  encoding: string | undefined,
): Promise<ItemCollector> {
  const collector = new ItemCollector("text_files", texts);
  for (const file of files) {
    const folders = file.path.split("/");
    const name = folders.pop() ?? "";
    if (name.startsWith(".")) continue;
    const title = name.replace(/\.[^.]*$/, "");
    if (isTextFile(file) && file.content.size > maxSmallContentBytes) {
      if (file.content.size > maxFileBytes) collector.addFailure(file.path, "too_large");
      else
        collector.addFile({
          kind: "text",
          title,
          tags: folders,
          name,
          mime: "text/plain",
          content: file.content,
          itemKey: file.path,
        });
      continue;
    }
    try {
      const decoded = isTextFile(file) ? await decodeText(file.content, encoding) : null;
      if (decoded?.hasReplacedBytes === true) collector.addFailure(file.path, "unreadable_character");
      if (decoded === null) collector.addFailure(file.path, "damaged");
      else
        collector.add({
          kind: "text",
          title,
          tags: folders,
          fields: [],
          note: decoded.text,
          otp: [],
          id: file.path,
          location: file.path,
        });
    } catch (error) {
      if (!(error instanceof ImportRefusedError)) throw error;
      collector.addFailure(file.path, error.reason === "too_large" ? "too_large" : "damaged");
    }
  }
  if (collector.items.length === 0) throw new ImportRefusedError("unknown_format");
  return collector;
}
