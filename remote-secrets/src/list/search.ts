import type { SecretLabel, SecretRow } from "@relicario/shared/contract";

/** What is searched in, by label: folded once, and gone with the label when the portal locks. */
const haystacks = new WeakMap<SecretLabel, string>();

/** Folds titles, tags and file names of all rows ahead of the first key stroke. */
export function prepareSearch(rows: readonly SecretRow[]): void {
  for (const { label } of rows) if (label !== null) haystackOf(label);
}

/** Rows whose title, tags or file name hold every word that was typed; capitals and accents do not count. */
export function searchRows(rows: readonly SecretRow[], typed: string): readonly SecretRow[] {
  const words = fold(typed).split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return rows;
  return rows.filter(({ label }) => {
    if (label === null) return false;
    const haystack = haystackOf(label);
    return words.every((word) => haystack.includes(word));
  });
}

function haystackOf(label: SecretLabel): string {
  const known = haystacks.get(label);
  if (known !== undefined) return known;
  const made = fold([label.title, label.name, ...label.tags].join("\n"));
  haystacks.set(label, made);
  return made;
}

function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
