import type { ContentKind, Language, SecretRow } from "@relicario/shared/contract";

export const sorts = ["newest", "oldest", "title", "largest"] as const;
export type Sort = (typeof sorts)[number];

/** How the list is narrowed and ordered, beside what is searched for. */
export interface View {
  readonly kind: ContentKind | "all";
  /** Every one of these has to be on a row. */
  readonly tags: readonly string[];
  readonly favorite: boolean;
  /** Id of the recovery image that opens it; null for any. */
  readonly image: string | null;
  readonly sort: Sort;
}

export const wholeView: View = Object.freeze({ kind: "all", tags: [], favorite: false, image: null, sort: "newest" });

/** How many of the filters are set. */
export function filtersOf(view: View): number {
  return (view.kind === "all" ? 0 : 1) + view.tags.length + (view.favorite ? 1 : 0) + (view.image === null ? 0 : 1);
}

/** Rows that pass the filters. What is locked has no label to judge by: only its star is known. */
export function filterRows(rows: readonly SecretRow[], { kind, tags, favorite, image }: View): readonly SecretRow[] {
  if (kind === "all" && tags.length === 0 && !favorite && image === null) return rows;
  return rows.filter(({ favorite: starred, label }) => {
    if (favorite && !starred) return false;
    if (label === null) return kind === "all" && tags.length === 0 && image === null;
    return (kind === "all" || label.contentKind === kind) && tags.every((tag) => label.tags.includes(tag)) && (image === null || label.openers.includes(image));
  });
}

export function sortRows(rows: readonly SecretRow[], sort: Sort, language: Language): readonly SecretRow[] {
  if (sort === "title") {
    const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
    return rows.toSorted((a, b) => compare(a.label?.title ?? "", b.label?.title ?? "") || newer(a, b));
  }
  if (sort === "largest") return rows.toSorted((a, b) => b.sealedSize - a.sealedSize || newer(a, b));
  return rows.toSorted(sort === "newest" ? newer : (a, b) => newer(b, a));
}

function newer(a: SecretRow, b: SecretRow): number {
  return a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0;
}
