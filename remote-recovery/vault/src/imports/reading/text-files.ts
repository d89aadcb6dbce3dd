import { maxFileBytes, maxSmallContentBytes } from "@relicario/shared/api";

import { decodeText } from "./decode.ts";
import { ItemCollector } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./words.ts";

/** A file, and where it lies in the folder that was chosen. */
export interface ChosenFile {
  readonly path: string;
  readonly content: Blob;
}

export function isTextFile({ path }: ChosenFile): boolean {
  return /\.(?:txt|md|markdown|text)$/i.test(path);
}

/**
 * Each text file of a folder becomes a secret, with the folders as its tags: one that is larger
 * than a secret of text as the file that it is. Others are named and left.
 */
export async function readTextFiles(files: readonly ChosenFile[], texts: ImportTexts): Promise<ItemCollector> {
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
      const text = isTextFile(file) ? await decodeText(file.content) : null;
      if (text === null) collector.addFailure(file.path, "damaged");
      else
        collector.add({
          kind: "text",
          title,
          tags: folders,
          fields: [],
          note: text,
          otp: [],
          id: file.path,
          place: file.path,
        });
    } catch (error) {
      if (!(error instanceof ImportRefusedError)) throw error;
      collector.addFailure(file.path, error.reason === "too_large" ? "too_large" : "damaged");
    }
  }
  if (collector.items.length === 0) throw new ImportRefusedError("unknown_format");
  return collector;
}
