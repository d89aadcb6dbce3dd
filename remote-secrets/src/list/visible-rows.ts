import {
  usePortal,
  type ContentKind,
  type Language,
  type SecretLabel,
  type SecretRow,
} from "@relicario/shared/contract";
import { useEffect, useMemo } from "react";

import { tagsOf } from "../data/secrets.ts";

/** Secrets that are kept, or those in the trash. */
export type Folder = "kept" | "trash";

export const sorts = ["newest", "oldest", "title", "largest"] as const;
export type Sort = (typeof sorts)[number];

/** Filters and sort order. The search text is apart: it changes with every key stroke. */
export interface ListView {
  readonly kind: ContentKind | "all";
  /** A row must have all of these. */
  readonly tags: readonly string[];
  readonly favorite: boolean;
  /** Only what somebody else can open. */
  readonly shared: boolean;
  /** Id of a recovery image that opens the secret; null for any. */
  readonly image: string | null;
  readonly sort: Sort;
}

export const defaultView: ListView = Object.freeze({
  kind: "all",
  tags: [],
  favorite: false,
  shared: false,
  image: null,
  sort: "newest",
});

/** Sorts, then filters, then searches, so that a key stroke repeats the last step only. */
export function useVisibleRows(
  rows: readonly SecretRow[],
  folder: Folder,
  view: ListView,
  searchText: string,
  sharedIds: ReadonlySet<string>,
) {
  const { language } = usePortal();
  useEffect(() => {
    prepareSearch(rows);
  }, [rows]);
  const kept = useMemo(() => rows.filter((row) => row.deletedAt === null), [rows]);
  const trashed = useMemo(() => rows.filter((row) => row.deletedAt !== null), [rows]);
  const inFolder = folder === "kept" ? kept : trashed;
  const tags = useMemo(() => tagsOf(inFolder), [inFolder]);
  const sorted = useMemo(() => sortRows(inFolder, view.sort, language), [inFolder, view.sort, language]);
  const filtered = useMemo(() => filterRows(sorted, view, sharedIds), [sorted, view, sharedIds]);
  const visible = useMemo(() => searchRows(filtered, searchText), [filtered, searchText]);
  return { kept, trashed, inFolder, visible, tags };
}

/** Each tag counts as one filter; the sort order does not count. */
export function countFilters(view: ListView): number {
  return (
    (view.kind === "all" ? 0 : 1) +
    view.tags.length +
    (view.favorite ? 1 : 0) +
    (view.shared ? 1 : 0) +
    (view.image === null ? 0 : 1)
  );
}

/**
 * A locked row has no label, so it passes only when no filter but `favorite` and `shared` is set.
 */
export function filterRows(
  rows: readonly SecretRow[],
  { kind, tags, favorite, shared, image }: ListView,
  sharedIds: ReadonlySet<string>,
): readonly SecretRow[] {
  if (kind === "all" && tags.length === 0 && !favorite && !shared && image === null) return rows;
  return rows.filter(({ secretId, favorite: starred, label }) => {
    if ((favorite && !starred) || (shared && !sharedIds.has(secretId))) return false;
    if (label === null) return kind === "all" && tags.length === 0 && image === null;
    return (
      (kind === "all" || label.contentKind === kind) &&
      tags.every((tag) => label.tags.includes(tag)) &&
      (image === null || label.openers.includes(image))
    );
  });
}

/** Equal titles and equal sizes are ordered newest first. */
export function sortRows(rows: readonly SecretRow[], sort: Sort, language: Language): readonly SecretRow[] {
  if (sort === "title") {
    const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
    return rows.toSorted((a, b) => compare(a.label?.title ?? "", b.label?.title ?? "") || newestFirst(a, b));
  }
  if (sort === "largest") return rows.toSorted((a, b) => b.sealedSize - a.sealedSize || newestFirst(a, b));
  return rows.toSorted(sort === "newest" ? newestFirst : (a, b) => newestFirst(b, a));
}

function newestFirst(a: SecretRow, b: SecretRow): number {
  return a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0;
}

/**
 * Rows whose title, file name and tags contain every word of the search text, ignoring case and
 * accents. Locked rows never match.
 */
export function searchRows(rows: readonly SecretRow[], searchText: string): readonly SecretRow[] {
  const words = fold(searchText)
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return rows;
  return rows.filter(({ label }) => {
    if (label === null) return false;
    const haystack = haystackOf(label);
    return words.every((word) => haystack.includes(word));
  });
}

/**
 * Weak keys: the folded plaintext is collected together with the label when the cache is cleared on
 * lock.
 */
const haystacks = new WeakMap<SecretLabel, string>();

function haystackOf(label: SecretLabel): string {
  const known = haystacks.get(label);
  if (known !== undefined) return known;
  const made = fold([label.title, label.name, ...label.tags].join("\n"));
  haystacks.set(label, made);
  return made;
}

/** Fills the cache when rows arrive, so that the first key stroke is as fast as the others. */
function prepareSearch(rows: readonly SecretRow[]): void {
  for (const { label } of rows) if (label !== null) haystackOf(label);
}

/** Without case and accents. */
function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
