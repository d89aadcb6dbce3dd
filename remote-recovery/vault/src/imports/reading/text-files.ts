import { maxFileBytes, maxSmallContentBytes } from "@relicario/shared/api";

import { textOf } from "./decode.ts";
import { Items } from "./items.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";

/** A file, and where it lies in the folder that was chosen. */
export interface GivenFile {
  readonly path: string;
  readonly content: Blob;
}

export function isTextFile({ path }: GivenFile): boolean {
  return /\.(?:txt|md|markdown|text)$/i.test(path);
}

/**
 * Each text file of a folder becomes a secret, with the folders as its tags: one that is larger
 * than a secret of text as the file that it is. Others are named and left.
 */
export async function readTextFiles(files: readonly GivenFile[], words: Words): Promise<Items> {
  const items = new Items("text_files", words);
  for (const file of files) {
    const parts = file.path.split("/");
    const name = parts.pop() ?? "";
    if (name.startsWith(".")) continue;
    const title = name.replace(/\.[^.]*$/, "");
    if (isTextFile(file) && file.content.size > maxSmallContentBytes) {
      if (file.content.size > maxFileBytes) items.fail(file.path, "too_large");
      else
        items.file({
          kind: "text",
          title,
          tags: parts,
          name,
          mime: "text/plain",
          content: file.content,
          which: file.path,
        });
      continue;
    }
    try {
      const text = isTextFile(file) ? await textOf(file.content) : null;
      if (text === null) items.fail(file.path, "damaged");
      else
        items.add({
          kind: "text",
          title,
          tags: parts,
          fields: [],
          note: text,
          otp: [],
          id: file.path,
          place: file.path,
        });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      items.fail(file.path, error.reason === "too_large" ? "too_large" : "damaged");
    }
  }
  if (items.items.length === 0) throw new Refused("unknown_format");
  return items;
}
