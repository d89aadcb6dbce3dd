import {
  usePortal,
  type ContentKind,
  type Language,
  type SecretLabel,
  type SecretRow,
} from "@relicario/shared/contract";
import { useEffect, useMemo } from "react";

import { collectTags } from "../data/secrets.ts";

/** Secrets that are kept, or those in the trash. */
export type Folder = "active" | "trash";

export const sortOrders = ["newest", "oldest", "title", "largest"] as const;
export type SortOrder = (typeof sortOrders)[number];

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
  readonly sort: SortOrder;
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
  const activeRows = useMemo(() => rows.filter((row) => row.deletedAt === null), [rows]);
  const trashedRows = useMemo(() => rows.filter((row) => row.deletedAt !== null), [rows]);
  const folderRows = folder === "active" ? activeRows : trashedRows;
  const tags = useMemo(() => collectTags(folderRows), [folderRows]);
  const sorted = useMemo(() => sortRows(folderRows, view.sort, language), [folderRows, view.sort, language]);
  const filtered = useMemo(() => filterRows(sorted, view, sharedIds), [sorted, view, sharedIds]);
  const visibleRows = useMemo(() => searchRows(filtered, searchText), [filtered, searchText]);
  return { activeRows, trashedRows, folderRows, visibleRows, tags };
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
  return rows.filter(({ secretId, favorite: isFavorite, label }) => {
    if ((favorite && !isFavorite) || (shared && !sharedIds.has(secretId))) return false;
    if (label === null) return kind === "all" && tags.length === 0 && image === null;
    return (
      (kind === "all" || label.contentKind === kind) &&
      tags.every((tag) => label.tags.includes(tag)) &&
      (image === null || label.openers.includes(image))
    );
  });
}

/** Equal titles and equal sizes are ordered newest first. */
export function sortRows(rows: readonly SecretRow[], sort: SortOrder, language: Language): readonly SecretRow[] {
  if (sort === "title") {
    const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
    return rows.toSorted((a, b) => compare(a.label?.title ?? "", b.label?.title ?? "") || compareNewestFirst(a, b));
  }
  if (sort === "largest") return rows.toSorted((a, b) => b.sealedSize - a.sealedSize || compareNewestFirst(a, b));
  return rows.toSorted(sort === "newest" ? compareNewestFirst : (a, b) => compareNewestFirst(b, a));
}

function compareNewestFirst(a: SecretRow, b: SecretRow): number {
  return a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0;
}

/**
 * Rows whose title, file name and tags contain every word of the search text, ignoring case and
 * accents. Locked rows never match.
 */
export function searchRows(rows: readonly SecretRow[], searchText: string): readonly SecretRow[] {
  const words = normalizeForSearch(searchText)
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return rows;
  return rows.filter(({ label }) => {
    if (label === null) return false;
    const indexedText = getIndexedText(label);
    return words.every((word) => indexedText.includes(word));
  });
}

/**
 * Weak keys: the folded plaintext is collected together with the label when the cache is cleared on
 * lock.
 */
const indexedTexts = new WeakMap<SecretLabel, string>();

function getIndexedText(label: SecretLabel): string {
  const cached = indexedTexts.get(label);
  if (cached !== undefined) return cached;
  const indexedText = normalizeForSearch([label.title, label.name, ...label.tags].join("\n"));
  indexedTexts.set(label, indexedText);
  return indexedText;
}

/** Fills the cache when rows arrive, so that the first key stroke is as fast as the others. */
function prepareSearch(rows: readonly SecretRow[]): void {
  for (const { label } of rows) if (label !== null) getIndexedText(label);
}

/** Without case and accents. */
function normalizeForSearch(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
