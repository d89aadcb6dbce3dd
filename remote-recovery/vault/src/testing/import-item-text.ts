import { parseRecord } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";

/**
 * Returns the fields of a record as lines, with its note after an empty line. Other contents stay
 * unchanged.
 */
export async function readItemText({ contentKind, content }: ImportItem): Promise<string> {
  const text = await content.text();
  if (contentKind !== "record") return text;
  const fields = parseRecord(text);
  if (fields === null) throw new Error("expected a readable record");
  const note = fields.at(-1)?.kind === "note" ? fields.at(-1)?.value : undefined;
  const lines = fields.slice(0, note === undefined ? undefined : -1).map(({ label, value }) => `${label}: ${value}`);
  return [lines.join("\n"), note].filter((part) => part !== undefined && part !== "").join("\n\n");
}
