import type { OpenedHandle } from "@relicario/shared/contract";
import { readOpened } from "@relicario/shared/testing";

import type { PlainContent } from "../transfer/plain-content.ts";

/** Reads what the vault's origin has of an opened content. Rejects with `vault_locked`. */
export async function decodeContent(opened: object): Promise<string> {
  if ("handle" in opened) return readOpened(opened.handle as OpenedHandle).content; // of the fake vault
  const { content, save } = opened as PlainContent;
  return content === null ? (await save()).text() : new TextDecoder().decode(content);
}
