import type { SecretRow } from "@relicario/shared/contract";

/** Rows whose title, tags or file name hold every word that was typed; capitals and accents do not count. */
export function searchRows(rows: readonly SecretRow[], typed: string): readonly SecretRow[] {
  const words = plain(typed).split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return rows;
  return rows.filter(({ label }) => {
    if (label === null) return false;
    const text = plain([label.title, label.name, ...label.tags].join("\n"));
    return words.every((word) => text.includes(word));
  });
}

function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();
}
