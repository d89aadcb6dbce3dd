import { maxFileNameLength, maxSmallContentBytes, maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { ImportFailure, ImportItem, ImportKind } from "@relicario/shared/contract";

import { dayOf } from "./facts.ts";
import type { Field } from "./field.ts";
import { maxItems } from "./limits.ts";
import { Refused } from "./refused.ts";
import { allWords, type Words } from "./words.ts";

/** An entry of a foreign file, before it becomes items. */
export interface Entry {
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
  readonly hasFailed?: boolean;
  readonly attachments?: readonly { readonly name: string; readonly content: Blob; readonly mime?: string }[];
}

/** Items as they are collected of one file. An origin that is there twice is numbered. */
export class Items {
  readonly items: ImportItem[] = [];
  readonly failures: ImportFailure[] = [];
  readonly #origins = new Map<string, number>();
  readonly #format: string;
  readonly #words: Words;

  constructor(format: string, words: Words) {
    this.#format = format;
    this.#words = words;
  }

  fail(place: string, reason: ImportFailure["reason"]): void {
    this.failures.push({ place, reason });
  }

  /**
   * One secret for its fields, one for each seed of one-time passwords, one for each attachment.
   */
  add(entry: Entry): void {
    const passkeys = (entry.passkeys ?? []).map((facts) =>
      facts.filter((fact) => fact != null && fact.trim() !== "").join(", "),
    );
    const fields = [
      ...entry.fields,
      ...passkeys.map((passkey): Field => ({ name: "passkey", value: passkey === "" ? "…" : passkey })),
    ];
    const filled = fields.flatMap(({ value, ...field }) =>
      value == null || value.trim() === "" ? [] : [{ ...field, value }],
    );
    const note = entry.note ?? "";
    const seeds = entry.otp.flatMap((seed) => (seed == null || seed.trim() === "" ? [] : [seed.trim()]));
    const attachments = entry.attachments ?? [];
    const common = {
      kind: entry.kind,
      tags: entry.tags,
      ...(entry.isFavorite === true ? { favorite: true as const } : {}),
    };
    if (filled.length === 0 && note.trim() === "" && seeds.length === 0 && attachments.length === 0) {
      if (entry.hasFailed !== true) this.fail(entry.place, "empty");
      return;
    }
    const named =
      filled.find(({ name }) => name === "url")?.value ?? filled.find(({ name }) => name === "username")?.value;
    const which =
      entry.id ??
      JSON.stringify([
        entry.title ?? "",
        ...filled
          .filter(({ name }) => name === "url" || name === "username" || name === "email")
          .map(({ value }) => value),
      ]);
    const title = entry.title?.trim() === "" ? (named ?? "") : (entry.title ?? named ?? "");
    if (filled.length > 0 || note.trim() !== "") {
      const lines = filled.map(({ value, ...field }) => `${this.#label(field)}: ${value}`);
      const text = [lines.join("\n"), note].filter((part) => part !== "").join("\n\n");
      this.#text({
        ...common,
        title: () => title,
        which,
        text,
        holds: JSON.stringify([filled.map(({ name, value, former }) => ({ name, value, former })), note]),
        ...(passkeys.length > 0 ? { leftOut: ["passkey"] as const } : {}),
      });
    }
    for (const [at, seed] of seeds.entries()) {
      this.#text({
        ...common,
        kind: "one_time_password",
        title: ({ untitled, otp }) => `${title === "" ? untitled : title} (${otp})`,
        which: `${which} otp ${String(at)}`,
        text: `${seed}\n\n${this.#words.otpSeed}`,
        holds: seed,
      });
    }
    for (const { name, content, mime = "application/octet-stream" } of attachments) {
      this.file({
        ...common,
        kind: "attachment",
        title: title === "" ? name : `${title}: ${name}`,
        name,
        mime,
        content,
        which: `${which} file ${name}`,
      });
    }
  }

  #label({ name, under = [], former }: Omit<Field, "value">): string {
    const label = [...under, typeof name === "string" ? this.#words[name] : name.own].join(" / ");
    if (former === undefined) return label;
    const day = dayOf(former);
    return `${label}, ${this.#words.formerly}${day === null ? "" : ` (${day})`}`;
  }

  /** A file as it is. */
  file({
    kind,
    title,
    tags,
    name,
    mime,
    content,
    which,
    contentKind = "file",
    ...rest
  }: {
    readonly kind: ImportKind;
    readonly title: string;
    readonly tags: Entry["tags"];
    readonly name: string;
    readonly mime: string;
    readonly content: Blob;
    readonly which: string;
    readonly contentKind?: ImportItem["contentKind"];
    readonly favorite?: true;
    readonly sealed?: ImportItem["sealed"] & {};
  }): void {
    this.#push({ ...rest, kind, title: () => title, tags, contentKind, name, mime, content, which, holds: null });
  }

  /**
   * A text that is larger than a secret of text becomes a file. What has no room in title or tags
   * stands in the text.
   */
  #text({
    text,
    ...rest
  }: Pick<Entry, "kind" | "tags"> &
    Pick<ImportItem, "favorite"> & {
      readonly title: Title;
      readonly which: string;
      readonly text: string;
      readonly holds: string;
      readonly leftOut?: ImportItem["leftOut"] & {};
    }): void {
    const [title, tags] = [oneLine(rest.title(this.#words)), tagsOf(rest.tags)];
    const whole = [
      ...(cut(title, maxTitleLength) === title ? [] : [`${this.#words.title}: ${title}`]),
      ...(isSame(tags, fittingTags(tags)) ? [] : [`${this.#words.tags}: ${tags.join(", ")}`]),
      text,
    ].join("\n");
    const content = new Blob([whole.toWellFormed()]);
    this.#push({
      ...rest,
      contentKind: content.size > maxSmallContentBytes ? "file" : "text",
      name: "secret.txt",
      mime: "text/plain",
      content,
    });
  }

  #push({
    which,
    title,
    tags,
    name,
    holds,
    ...rest
  }: Pick<
    ImportItem,
    "kind" | "contentKind" | "name" | "mime" | "content" | "holds" | "leftOut" | "favorite" | "sealed"
  > & { readonly title: Title; readonly tags: Entry["tags"]; readonly which: string }): void {
    if (this.items.length >= maxItems) throw new Refused("too_large");
    const changed: ImportItem["changed"][number][] = [];
    const wanted = oneLine(title(this.#words));
    const made = titleIn(this.#words, title);
    const [english, ...others] = allWords.map((words) => titleIn(words, title));
    const isOurs = english !== undefined && others.some((other) => other !== english);
    if (wanted === "") changed.push("title_made");
    else if (made !== wanted) changed.push("title_cut");
    const given = tagsOf(tags);
    const fitting = fittingTags(given);
    if (!isSame(given, fitting)) changed.push("tags_cut");
    const fileName = cut(oneLine(name), maxFileNameLength);
    if (fileName !== name) changed.push("name_cut");
    const before = this.#origins.get(which) ?? 0;
    this.#origins.set(which, before + 1);
    const origin = `${this.#format}:${which}${before === 0 ? "" : ` ${String(before + 1)}`}`.toWellFormed();
    this.items.push({
      ...rest,
      title: made,
      ...(isOurs ? { markTitles: [english, ...others] } : {}),
      tags: fitting,
      name: fileName === "" ? "file" : fileName,
      origin,
      holds: holds === null ? null : holds.toWellFormed(),
      changed,
    });
  }
}

/** A title, some of which may be words of ours. */
type Title = (words: Words) => string;

function titleIn(words: Words, title: Title): string {
  const wanted = oneLine(title(words));
  return wanted === "" ? words.untitled : cut(wanted, maxTitleLength);
}

function tagsOf(tags: Entry["tags"]): string[] {
  return [...new Set(tags.flatMap((tag) => (tag == null || oneLine(tag) === "" ? [] : [oneLine(tag)])))];
}

function fittingTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => cut(tag, maxTagLength)))].slice(0, maxTags);
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, at) => one === right[at]);
}

/** Without what breaks a line or cannot be seen. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Counted as people see the limits. */
function cut(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`;
}
