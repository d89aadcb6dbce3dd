import { maxFileNameLength, maxSmallContentBytes, maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { ImportFailure, ImportItem, ImportKind } from "@relicario/shared/contract";

import { formatDay } from "./item-values.ts";
import type { Field } from "./field.ts";
import { maxItems } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { allImportTexts, type ImportTexts } from "./words.ts";

/** An entry of a foreign file, before it becomes items. */
export interface ImportEntry {
  readonly kind: ImportKind;
  readonly title: string | null | undefined;
  readonly tags: readonly (string | null | undefined)[];
  readonly fields: readonly Field[];
  readonly note: string | null | undefined;
  /** Seeds of one-time passwords, as `otpauth:` addresses or base32. */
  readonly otp: readonly (string | null | undefined)[];
  /**
   * Site and user of each of its passkeys. Their private keys stay behind: no program takes one
   * from a text (decision 0111).
   */
  readonly passkeys?: readonly (readonly (string | null | undefined)[])[];
  /** Its id in its file; null where the format has none: then what names it stands in for it. */
  readonly id: string | null;
  /** Where it stands, for whoever reads of a failure. */
  readonly place: string;
  readonly isFavorite?: boolean;
  /**
   * Something that it holds was said as a failure of its own: it is not empty, whatever else it
   * has.
   */
  readonly hasReportedFailure?: boolean;
  readonly attachments?: readonly { readonly name: string; readonly content: Blob; readonly mime?: string }[];
}

/** Items as they are collected of one file. An origin that is there twice is numbered. */
export class ItemCollector {
  readonly items: ImportItem[] = [];
  readonly failures: ImportFailure[] = [];
  readonly #origins = new Map<string, number>();
  readonly #format: string;
  readonly #texts: ImportTexts;

  constructor(format: string, texts: ImportTexts) {
    this.#format = format;
    this.#texts = texts;
  }

  addFailure(location: string, reason: ImportFailure["reason"]): void {
    this.failures.push({ location, reason });
  }

  /**
   * One secret for its fields, one for each seed of one-time passwords, one for each attachment.
   */
  add(entry: ImportEntry): void {
    const passkeys = (entry.passkeys ?? []).map((passkeyParts) =>
      passkeyParts.filter((part) => part != null && part.trim() !== "").join(", "),
    );
    const fields = [
      ...entry.fields,
      ...passkeys.map((passkey): Field => ({ name: "passkey", value: passkey === "" ? "…" : passkey })),
    ];
    const filledFields = fields.flatMap(({ value, ...field }) =>
      value == null || value.trim() === "" ? [] : [{ ...field, value }],
    );
    const note = entry.note ?? "";
    const otpSeeds = entry.otp.flatMap((seed) => (seed == null || seed.trim() === "" ? [] : [seed.trim()]));
    const attachments = entry.attachments ?? [];
    const commonFields = {
      kind: entry.kind,
      tags: entry.tags,
      ...(entry.isFavorite === true ? { favorite: true as const } : {}),
    };
    if (filledFields.length === 0 && note.trim() === "" && otpSeeds.length === 0 && attachments.length === 0) {
      if (entry.hasReportedFailure !== true) this.addFailure(entry.place, "empty");
      return;
    }
    const fallbackTitle =
      filledFields.find(({ name }) => name === "url")?.value ??
      filledFields.find(({ name }) => name === "username")?.value;
    const itemKey =
      entry.id ??
      JSON.stringify([
        entry.title ?? "",
        ...filledFields
          .filter(({ name }) => name === "url" || name === "username" || name === "email")
          .map(({ value }) => value),
      ]);
    const title = entry.title?.trim() === "" ? (fallbackTitle ?? "") : (entry.title ?? fallbackTitle ?? "");
    if (filledFields.length > 0 || note.trim() !== "") {
      const lines = filledFields.map(({ value, ...field }) => `${this.#fieldLabel(field)}: ${value}`);
      const text = [lines.join("\n"), note].filter((part) => part !== "").join("\n\n");
      this.#addText({
        ...commonFields,
        title: () => title,
        itemKey,
        text,
        canonicalContent: JSON.stringify([
          filledFields.map(({ name, value, former }) => ({ name, value, former })),
          note,
        ]),
        ...(passkeys.length > 0 ? { omitted: ["passkey"] as const } : {}),
      });
    }
    for (const [index, seed] of otpSeeds.entries()) {
      this.#addText({
        ...commonFields,
        kind: "one_time_password",
        title: ({ untitled, otp }) => `${title === "" ? untitled : title} (${otp})`,
        itemKey: `${itemKey} otp ${String(index)}`,
        text: `${seed}\n\n${this.#texts.otpSeed}`,
        canonicalContent: seed,
      });
    }
    for (const { name, content, mime = "application/octet-stream" } of attachments) {
      this.addFile({
        ...commonFields,
        kind: "attachment",
        title: title === "" ? name : `${title}: ${name}`,
        name,
        mime,
        content,
        itemKey: `${itemKey} file ${name}`,
      });
    }
  }

  #fieldLabel({ name, sections = [], former }: Omit<Field, "value">): string {
    const label = [...sections, typeof name === "string" ? this.#texts[name] : name.own].join(" / ");
    if (former === undefined) return label;
    const day = formatDay(former);
    return `${label}, ${this.#texts.formerly}${day === null ? "" : ` (${day})`}`;
  }

  /** A file as it is. */
  addFile({
    kind,
    title,
    tags,
    name,
    mime,
    content,
    itemKey,
    contentKind = "file",
    ...rest
  }: {
    readonly kind: ImportKind;
    readonly title: string;
    readonly tags: ImportEntry["tags"];
    readonly name: string;
    readonly mime: string;
    readonly content: Blob;
    readonly itemKey: string;
    readonly contentKind?: ImportItem["contentKind"];
    readonly favorite?: true;
    readonly sealed?: ImportItem["sealed"] & {};
  }): void {
    this.#addItem({
      ...rest,
      kind,
      title: () => title,
      tags,
      contentKind,
      name,
      mime,
      content,
      itemKey,
      canonicalContent: null,
    });
  }

  /**
   * A text that is larger than a secret of text becomes a file. What has no room in title or tags
   * stands in the text.
   */
  #addText({
    text,
    ...rest
  }: Pick<ImportEntry, "kind" | "tags"> &
    Pick<ImportItem, "favorite"> & {
      readonly title: TitleFormatter;
      readonly itemKey: string;
      readonly text: string;
      readonly canonicalContent: string;
      readonly omitted?: ImportItem["omitted"] & {};
    }): void {
    const [title, tags] = [toSingleLine(rest.title(this.#texts)), normalizeTags(rest.tags)];
    const fullText = [
      ...(truncate(title, maxTitleLength) === title ? [] : [`${this.#texts.title}: ${title}`]),
      ...(isSameList(tags, limitTags(tags)) ? [] : [`${this.#texts.tags}: ${tags.join(", ")}`]),
      text,
    ].join("\n");
    const content = new Blob([fullText.toWellFormed()]);
    this.#addItem({
      ...rest,
      contentKind: content.size > maxSmallContentBytes ? "file" : "text",
      name: "secret.txt",
      mime: "text/plain",
      content,
    });
  }

  #addItem({
    itemKey,
    title,
    tags,
    name,
    canonicalContent,
    ...rest
  }: Pick<
    ImportItem,
    "kind" | "contentKind" | "name" | "mime" | "content" | "canonicalContent" | "omitted" | "favorite" | "sealed"
  > & { readonly title: TitleFormatter; readonly tags: ImportEntry["tags"]; readonly itemKey: string }): void {
    if (this.items.length >= maxItems) throw new ImportRefusedError("too_large");
    const adjustments: ImportItem["adjustments"][number][] = [];
    const originalTitle = toSingleLine(title(this.#texts));
    const finalTitle = buildTitle(this.#texts, title);
    const [english, ...otherTitles] = allImportTexts.map((texts) => buildTitle(texts, title));
    const isGeneratedTitle = english !== undefined && otherTitles.some((otherTitle) => otherTitle !== english);
    if (originalTitle === "") adjustments.push("title_made");
    else if (finalTitle !== originalTitle) adjustments.push("title_cut");
    const allTags = normalizeTags(tags);
    const limitedTags = limitTags(allTags);
    if (!isSameList(allTags, limitedTags)) adjustments.push("tags_cut");
    const fileName = truncate(toSingleLine(name), maxFileNameLength);
    if (fileName !== name) adjustments.push("name_cut");
    const occurrences = this.#origins.get(itemKey) ?? 0;
    this.#origins.set(itemKey, occurrences + 1);
    const sourceId =
      `${this.#format}:${itemKey}${occurrences === 0 ? "" : ` ${String(occurrences + 1)}`}`.toWellFormed();
    this.items.push({
      ...rest,
      title: finalTitle,
      ...(isGeneratedTitle ? { canonicalTitles: [english, ...otherTitles] } : {}),
      tags: limitedTags,
      name: fileName === "" ? "file" : fileName,
      sourceId,
      canonicalContent: canonicalContent === null ? null : canonicalContent.toWellFormed(),
      adjustments,
    });
  }
}

/** A title, some of which may be words of ours. */
type TitleFormatter = (texts: ImportTexts) => string;

function buildTitle(texts: ImportTexts, title: TitleFormatter): string {
  const originalTitle = toSingleLine(title(texts));
  return originalTitle === "" ? texts.untitled : truncate(originalTitle, maxTitleLength);
}

function normalizeTags(tags: ImportEntry["tags"]): string[] {
  return [...new Set(tags.flatMap((tag) => (tag == null || toSingleLine(tag) === "" ? [] : [toSingleLine(tag)])))];
}

function limitTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => truncate(tag, maxTagLength)))].slice(0, maxTags);
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** Without what breaks a line or cannot be seen. */
function toSingleLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Counted as people see the limits. */
function truncate(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength
    ? text
    : `${characters
        .slice(0, maxLength - 1)
        .join("")
        .trimEnd()}…`;
}
