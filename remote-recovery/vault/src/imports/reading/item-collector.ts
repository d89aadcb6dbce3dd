import {
  isDay,
  maxFileNameLength,
  maxRecordLabelLength,
  maxSmallContentBytes,
  maxTagLength,
  maxTags,
  maxTitleLength,
  parseOneTimeCode,
  parseRecord,
  recordFileName,
  recordMime,
  stringifyRecord,
  type RecordField,
  type RecordFieldKind,
} from "@relicario/shared/api";
import type { ImportFailure, ImportItem, ImportKind } from "@relicario/shared/contract";

import { formatDay, toFields } from "./item-values.ts";
import type { Field } from "./field.ts";
import { maxItems } from "./limits.ts";
import type { Members } from "./members.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { allImportTexts, type ImportTextKey, type ImportTexts } from "./import-texts.ts";

/** An entry of a foreign file, before it is split into items. */
export interface ImportEntry {
  readonly kind: ImportKind;
  readonly title: string | null | undefined;
  readonly tags: readonly (string | null | undefined)[];
  readonly fields: readonly Field[];
  readonly note: string | null | undefined;
  /** Seeds of one-time passwords, as `otpauth:` URLs or base32. */
  readonly otp: readonly (string | null | undefined)[];
  /**
   * Site and user name of each passkey. Private keys are not imported, because no program accepts
   * one as text (decision 0024).
   */
  readonly passkeys?: readonly (readonly (string | null | undefined)[])[];
  /**
   * Id in the file. Null if the format has none; title, URLs and user names then identify the
   * entry.
   */
  readonly id: string | null;
  /** Place of the entry in the file, for reports of failures. */
  readonly location: string;
  readonly isFavorite?: boolean;
  /**
   * Whether a part of the entry was already reported as a failure. The entry then is not reported
   * as empty.
   */
  readonly hasReportedFailure?: boolean;
  readonly attachments?: readonly { readonly name: string; readonly content: Blob; readonly mime?: string }[];
  /** Members that the entry was read from. The remaining ones become fields. */
  readonly members?: Members;
}

/** In characters; leaves room for a title and tags. */
const maxLocationLength = 2000;
const replacedByte = "\uFFFD";

/** Collects the items of one file. Numbers repeated origins. */
export class ItemCollector {
  readonly items: ImportItem[] = [];
  readonly failures: ImportFailure[] = [];
  /** Names of fields that the other program writes for its own use; they are not imported. */
  readonly leftOut = new Set<string>();
  readonly #origins = new Map<string, number>();
  readonly #format: string;
  readonly #texts: ImportTexts;

  constructor(format: string, texts: ImportTexts) {
    this.#format = format;
    this.#texts = texts;
  }

  /** Records the name of a field that is empty or for the other program's own use. */
  leaveOut(name: string | null): void {
    if (name !== null) this.leftOut.add(name);
  }

  addFailure(location: string, reason: ImportFailure["reason"]): void {
    this.failures.push({ location: truncate(location, maxLocationLength), reason });
  }

  /**
   * Adds one record for fields, seeds and note, or one text if there is only a note. Also adds one
   * file per attachment.
   */
  add(entry: ImportEntry): void {
    const passkeys = (entry.passkeys ?? []).map((passkeyParts) =>
      passkeyParts.filter((part) => part != null && part.trim() !== "").join(", "),
    );
    const fields = [
      ...entry.fields,
      ...(entry.members?.rest() ?? []),
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
    const isEmpty =
      filledFields.length === 0 && note.trim() === "" && otpSeeds.length === 0 && attachments.length === 0;
    // a title that is too long becomes a text
    const isTextInTitle = isEmpty && truncate(entry.title ?? "", maxTitleLength) !== (entry.title ?? "");
    if (isEmpty && !isTextInTitle) {
      const tags = normalizeTags(entry.tags);
      if (entry.hasReportedFailure !== true)
        this.addFailure(
          tags.length === 0 ? entry.location : `${entry.location} (${tags.join(", ")})`,
          (entry.title ?? "").trim() === "" ? "empty" : "title_only",
        );
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
    if (filledFields.length + otpSeeds.length > 0 || note.trim() !== "" || isTextInTitle) {
      const hasOnlySeeds = filledFields.length === 0 && note.trim() === "" && otpSeeds.length > 0;
      const recordFields = [
        ...filledFields.flatMap((field) => this.#toRecordFields(field, entry.kind)),
        ...otpSeeds.map((seed) => this.#toSeedField(seed)),
      ];
      this.#addEntry({
        ...commonFields,
        kind: hasOnlySeeds ? "one_time_password" : entry.kind,
        title: () => title,
        itemKey,
        recordFields,
        note,
        canonicalContent: JSON.stringify([
          filledFields.map(({ name, value, former }) => ({ name, value, former })),
          note,
          ...(otpSeeds.length > 0 ? [otpSeeds] : []),
        ]),
        fieldNames: [
          ...new Set(recordFields.map(({ label }) => label)),
          ...(note.trim() === "" ? [] : [this.#texts.note]),
        ],
        ...(otpSeeds.length > 0 ? { hasSeeds: true as const } : {}),
        ...(passkeys.length > 0 ? { omitted: ["passkey"] as const } : {}),
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

  /** Adds the items of another file of the same archive. */
  append(other: ItemCollector, fileName: string): void {
    if (this.items.length + other.items.length > maxItems) throw new ImportRefusedError("too_large");
    this.items.push(...other.items.map((item) => ({ ...item, sourceId: `${item.sourceId} ${fileName}` })));
    for (const { location, reason } of other.failures) this.addFailure(`${fileName}: ${location}`, reason);
    for (const name of other.leftOut) this.leftOut.add(name);
  }

  /** Reports an entry as damaged, and keeps what it contains as fields. */
  addDamaged(location: string, raw: unknown): void {
    const fields = toFields("…", raw);
    this.addFailure(location, fields.length > 0 ? "not_understood" : "damaged");
    if (fields.length > 0)
      this.add({ kind: "other", title: location, tags: [], fields, note: null, otp: [], id: null, location });
  }

  /** Adds the remaining members of a file that belong to no entry. */
  addRest(title: string, members: Members): void {
    const fields = members.rest();
    if (fields.length > 0)
      this.add({ kind: "other", title, tags: [], fields, note: null, otp: [], id: `rest ${title}`, location: title });
  }

  /** Reports values that contain U+FFFD, which replaces bytes that could not be decoded. */
  reportReplacedBytes(): void {
    for (const { title, tags, name, canonicalContent } of this.items) {
      const labels = [
        ...(title.includes(replacedByte) ? [this.#texts.title] : []),
        ...(tags.some((tag) => tag.includes(replacedByte)) ? [this.#texts.tags] : []),
        ...(canonicalContent?.includes(replacedByte) === true ? this.#labelsWith(canonicalContent) : []),
        ...(name.includes(replacedByte) ? [name] : []),
      ];
      for (const label of labels) this.addFailure(`${title}: ${label}`, "unreadable_character");
    }
  }

  #labelsWith(canonicalContent: string): string[] {
    const [fields, note, otpSeeds = []] = JSON.parse(canonicalContent) as readonly [
      readonly (Field & { value: string })[],
      string,
      readonly string[] | undefined,
    ];
    return [
      ...fields.filter((field) => JSON.stringify(field).includes(replacedByte)).map((field) => this.#fieldLabel(field)),
      ...(otpSeeds.some((seed) => seed.includes(replacedByte)) ? [this.#texts.otp] : []),
      ...(note.includes(replacedByte) ? [this.#texts.note] : []),
    ];
  }

  /**
   * Returns a second field with the whole label if the label is too long or has control characters.
   */
  #toRecordFields({ value, kind, ...field }: Field & { readonly value: string }, entryKind: ImportKind): RecordField[] {
    const ourName = typeof field.name === "string" ? field.name : null;
    const defaultKind = isDay(value) ? "date" : ourName !== null || entryKind === "identity" ? "text" : "secret";
    const knownKind = kind ?? (ourName === null ? undefined : recordKindsByName[ourName]);
    const label = this.#fieldLabel(field);
    const fittedLabel = cutLabel(toSingleLine(label)) || "…";
    const isWhole = fittedLabel === label.trim() || label.trim() === "";
    return [
      ...(isWhole ? [] : [fitRecordField({ label: this.#texts.wholeLabel, value: label, kind: "text" })]),
      fitRecordField({ label: fittedLabel, value, kind: knownKind ?? defaultKind }),
    ];
  }

  /** A seed that cannot produce codes becomes a secret field. */
  #toSeedField(seed: string): RecordField {
    const kind = parseOneTimeCode(seed) === null ? "secret" : "one_time_code";
    return fitRecordField({ label: this.#texts.otp, value: seed, kind });
  }

  #fieldLabel({ name, sections = [], former }: Omit<Field, "value">): string {
    const label = [...sections, typeof name === "string" ? this.#texts[name] : name.own].join(" / ");
    if (former === undefined) return label;
    const day = formatDay(former);
    return `${label} (${this.#texts.previous}${day === null ? "" : `, ${day}`})`;
  }

  /** Adds a file unchanged. */
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
    readonly sealedContent?: ImportItem["sealedContent"] & {};
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
   * Adds a record. Adds a text instead if there is only a note or more than a record may contain,
   * and a file if that is too large for a text. Titles and tags over their limits go into the
   * content.
   */
  #addEntry({
    recordFields,
    note,
    ...rest
  }: Pick<ImportEntry, "kind" | "tags"> &
    Pick<ImportItem, "favorite" | "hasSeeds"> & {
      readonly title: TitleFormatter;
      readonly itemKey: string;
      readonly recordFields: readonly RecordField[];
      readonly note: string;
      readonly canonicalContent: string;
      readonly omitted?: ImportItem["omitted"] & {};
      readonly fieldNames: readonly string[];
    }): void {
    const [title, tags] = [toSingleLine(rest.title(this.#texts)), normalizeTags(rest.tags)];
    const fields = [
      ...(truncate(title, maxTitleLength) === title ? [] : [toTextField(this.#texts.title, title)]),
      ...(isSameList(tags, limitTags(tags)) ? [] : [toTextField(this.#texts.tags, tags.join(", "))]),
      ...recordFields,
    ];
    const noteField: RecordField = fitRecordField({ label: this.#texts.note, value: note, kind: "note" });
    const record = stringifyRecord(note.trim() === "" ? fields : [...fields, noteField]);
    if (recordFields.length > 0 && parseRecord(record) !== null) {
      const content = new Blob([record]);
      if (content.size <= maxSmallContentBytes) {
        this.#addItem({ ...rest, contentKind: "record", name: recordFileName, mime: recordMime, content });
        return;
      }
    }
    const lines = fields.map(({ label, value }) => `${label}: ${value}`).join("\n");
    const content = new Blob([
      [lines, note]
        .filter((part) => part !== "")
        .join("\n\n")
        .toWellFormed(),
    ]);
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
    | "kind"
    | "contentKind"
    | "name"
    | "mime"
    | "content"
    | "canonicalContent"
    | "fieldNames"
    | "omitted"
    | "hasSeeds"
    | "favorite"
    | "sealedContent"
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

/** Kinds of fields with our names. Others are texts or dates. */
const recordKindsByName: Readonly<Partial<Record<ImportTextKey, RecordFieldKind>>> = {
  password: "secret",
  url: "address",
  note: "note",
  otp: "secret",
  number: "secret",
  code: "secret",
  pin: "secret",
};

function toTextField(label: string, value: string): RecordField {
  return { label, value, kind: "text" };
}

/** Makes a field secret if its value has control characters, or is not a date despite its kind. */
function fitRecordField({ label, value, kind }: RecordField): RecordField {
  const fittedValue = value.toWellFormed();
  const hasControlCharacters = /[^\P{Cc}\t\n\r]/u.test(fittedValue);
  const isKindFitting = !hasControlCharacters && (kind !== "date" || isDay(fittedValue));
  return { label, value: fittedValue, kind: isKindFitting ? kind : "secret" };
}

/** Cuts to the limit in UTF-16 code units, without splitting a character. */
function cutLabel(label: string): string {
  if (label.length <= maxRecordLabelLength) return label;
  return `${label
    .slice(0, maxRecordLabelLength - 1)
    .replace(/\p{Cs}$/u, "")
    .trimEnd()}…`;
}

/** Formats a title that may contain words in the reader's language. */
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

/** Replaces control characters and line breaks by spaces. */
function toSingleLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Cuts to a limit in code points, as people count them. */
function truncate(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength
    ? text
    : `${characters
        .slice(0, maxLength - 1)
        .join("")
        .trimEnd()}…`;
}
