import {
  usePortal,
  type ContentKind,
  type Language,
  type SecretLabel,
  type SecretRow,
} from "@relicario/shared/contract";
import { useEffect, useMemo } from "react";

import { collectTags } from "../data/secrets.ts";

export type Folder = "active" | "trash";

export const sortOrders = ["newest", "oldest", "title", "largest"] as const;
export type SortOrder = (typeof sortOrders)[number];

/**
 * Filters and sort order. The search text is separate, because it changes with every key stroke.
 */
export interface ListView {
  readonly kind: ContentKind | "all";
  /** Tags that a row must all have. */
  readonly tags: readonly string[];
  readonly favorite: boolean;
  /** Whether only secrets with a live share are shown. */
  readonly shared: boolean;
  /** Id of a recovery image that must open the secret; null for any. */
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

/** Sorts, filters, then searches. A key stroke repeats only the search. */
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
  const sortedRows = useMemo(() => sortRows(folderRows, view.sort, language), [folderRows, view.sort, language]);
  const filteredRows = useMemo(() => filterRows(sortedRows, view, sharedIds), [sortedRows, view, sharedIds]);
  const visibleRows = useMemo(() => searchRows(filteredRows, searchText), [filteredRows, searchText]);
  return { activeRows, trashedRows, folderRows, visibleRows, tags };
}

/** Counts the active filters. Each tag counts as one filter; the sort order does not count. */
export function countFilters(view: ListView): number {
  return (
    (view.kind === "all" ? 0 : 1) +
    view.tags.length +
    (view.favorite ? 1 : 0) +
    (view.shared ? 1 : 0) +
    (view.image === null ? 0 : 1)
  );
}

/** Filters rows. A locked row has no label, so it can only match `favorite` and `shared`. */
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
      (image === null || label.openerIds.includes(image))
    );
  });
}

/** Sorts rows. Rows with equal titles or sizes are sorted newest first. */
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
 * Returns the rows whose title, file name or tags contain every word, ignoring case and accents.
 * Locked rows never match.
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
 * Normalised texts for the search. The keys are weak: when a lock clears the query cache, labels
 * and these plaintexts are freed together.
 */
const indexedTexts = new WeakMap<SecretLabel, string>();

function getIndexedText(label: SecretLabel): string {
  const cached = indexedTexts.get(label);
  if (cached !== undefined) return cached;
  const indexedText = normalizeForSearch([label.title, label.name, ...label.tags].join("\n"));
  indexedTexts.set(label, indexedText);
  return indexedText;
}

/**
 * Fills the cache before the first key stroke, so that the first search is as fast as later ones.
 */
function prepareSearch(rows: readonly SecretRow[]): void {
  for (const { label } of rows) if (label !== null) getIndexedText(label);
}

function normalizeForSearch(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
