import type { ColumnRole, ImportFormat, ImportQuestion as Question } from "@relicario/shared/contract";

import { findCsvFormat, guessRole, normalizeName, otherTable, type CsvFormat } from "./csv-formats.ts";
import { readCsvRows, type CsvRow } from "./csv-rows.ts";
import type { Field } from "./field.ts";
import { decodeEntities, isEncodedText } from "./html-entities.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { ImportQuestion } from "./import-question.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { firstNonEmpty } from "./item-values.ts";
import { maxItems } from "./limits.ts";
import { Members } from "./members.ts";

/** Answers about a table of an unknown program. */
export interface CsvAnswers {
  readonly columns?: readonly ColumnRole[];
  readonly isFirstRowEntry?: boolean;
  /** Whether to use the guessed roles of columns instead of asking. */
  readonly guessesColumns?: true;
}

const delimiters = [",", ";", "\t", "|"] as const;
const [sampleCount, maxSampleLength, maxColumns] = [3, 60, 1000];

/**
 * Reads a table, with or without a row of column names.
 * @throws ImportRefusedError `unknown_format`, `too_large`, `unreadable_format`; ImportQuestion
 *   `columns_needed`
 */
export function readCsv(
  text: string,
  texts: ImportTexts,
  answers: CsvAnswers,
): { readonly format: ImportFormat; readonly collector: ItemCollector } {
  const { names, namesNumber, rows, format: knownFormat } = readTable(text);
  if (names.length < 2 || names.length > maxColumns) throw new ImportRefusedError("unknown_format");
  if (knownFormat !== null) {
    if (typeof knownFormat === "string") throw new ImportRefusedError({ unreadable: knownFormat });
    const roles = names.map((name) => knownFormat.roles.get(normalizeName(name)) ?? "field");
    return readRows(knownFormat, names, roles, rows, texts);
  }
  const isFirstRowEntry = answers.isFirstRowEntry ?? looksLikeEntry(names);
  const shownNames = isFirstRowEntry ? names.map((_, index) => String(index + 1)) : names;
  const allRows = isFirstRowEntry ? [{ cells: names, isDoubtful: false, number: namesNumber }, ...rows] : rows;
  const columns = guessColumns(shownNames, allRows, isFirstRowEntry);
  const roles = answers.guessesColumns === true ? columns.map(({ role }) => role) : answers.columns;
  if (roles?.length !== names.length) throw new ImportQuestion({ status: "columns_needed", columns, isFirstRowEntry });
  return readRows(otherTable, shownNames, roles, allRows, texts);
}

/** Whether the columns are those of a known program. */
export function hasKnownColumns(text: string): boolean {
  return findColumns(text).format !== null;
}

interface NumberedRow extends CsvRow {
  /** Row number, counted like a spreadsheet. */
  readonly number: number;
}

interface Table {
  readonly names: readonly string[];
  readonly namesNumber: number;
  readonly rows: readonly NumberedRow[];
  readonly format: ReturnType<typeof findCsvFormat>;
}

/**
 * Finds the delimiter and the columns. Uses the delimiter that the file names, else one that gives
 * a known format, else the one with most columns. `start` is where the table begins.
 */
function findColumns(
  text: string,
): Pick<Table, "format" | "names"> & { readonly delimiter: string; readonly start: number } {
  const [marker, named] = /^"?sep *= *(.)"?(?:\r\n|\n|\r)/i.exec(text) ?? ["", undefined];
  const candidates = (named === undefined ? delimiters : [named]).map((delimiter) => {
    const names = readFirstNames(text.slice(marker.length), delimiter);
    return { delimiter, names, format: findCsvFormat(names.map(normalizeName)) };
  });
  const chosen =
    candidates.find(({ format }) => format !== null) ??
    candidates.reduce((best, candidate) => (candidate.names.length > best.names.length ? candidate : best));
  return { ...chosen, start: marker.length };
}

function readTable(text: string): Table {
  const { delimiter, start, names, format } = findColumns(text);
  const rows: NumberedRow[] = [];
  let number = start === 0 ? 0 : 1;
  let namesNumber = 0;
  for (const row of readCsvRows(text.slice(start), delimiter)) {
    number += 1;
    if (isBlank(row.cells)) continue;
    if (namesNumber === 0) namesNumber = number;
    else rows.push({ ...row, number });
    if (rows.length > maxItems) throw new ImportRefusedError("too_large");
  }
  return { names, namesNumber, rows, format };
}

function readFirstNames(text: string, delimiter: string): readonly string[] {
  for (const { cells } of readCsvRows(text, delimiter)) if (!isBlank(cells)) return cells;
  return [];
}

function readRows(
  format: CsvFormat,
  names: readonly string[],
  roles: readonly ColumnRole[],
  rows: readonly NumberedRow[],
  texts: ImportTexts,
): ReturnType<typeof readCsv> {
  const collector = new ItemCollector(findMarkedFormat(format, names.map(normalizeName)), texts);
  const isEncoded = format.hasEntities === true && rows.every(({ cells }) => cells.every(isEncodedText));
  for (const { cells, isDoubtful, number } of rows) {
    const row = new Members(
      cells.flatMap((value, index) => {
        const role = roles[index] ?? "field";
        const member = {
          name: role === "field" ? normalizeName(names[index] ?? "") : roleName(role),
          label: firstNonEmpty(names[index])?.trim() ?? "…",
          value,
        };
        if (format.hasEntities !== true || decodeEntities(value) === value) return [member];
        const decoded = { ...member, value: decodeEntities(value) };
        // another part of the file is not encoded, so this cell may be literal text: keep both
        // forms
        return isEncoded ? [decoded] : [decoded, { ...member, name: "", label: `${member.label}, ${texts.asInFile}` }];
      }),
      collector.leftOut,
    );
    const entry = readEntry(format, row, cells, names.map(normalizeName));
    const location = firstNonEmpty(entry.title) === null ? String(number) : `${String(number)} (${entry.title ?? ""})`;
    if (isDoubtful) collector.addFailure(location, "doubtful_quotes");
    if (row.peek().some(({ name, label }) => name === "" && label === "…"))
      collector.addFailure(location, "extra_cells");
    collector.add({ ...entry, location, members: row, hasReportedFailure: isDoubtful });
  }
  return { format: format.format, collector };
}

/**
 * The format that is part of the marks. Earlier releases read some tables as one of these two
 * formats, so this keeps the marks of their items.
 */
function findMarkedFormat({ format, columns }: CsvFormat, names: readonly string[]): ImportFormat {
  if (["bitwarden_csv", "firefox_csv"].includes(format) || columns.includes("vault")) return format;
  const hasAll = (...wanted: readonly string[]): boolean => wanted.every((name) => names.includes(name));
  if (hasAll("title", "username", "password")) return "onepassword_csv";
  return hasAll("name", "url", "username", "password") ? "google_csv" : format;
}

/** Reads an entry by the roles of its columns. The remaining cells stay in the row. */
function readEntry(
  format: CsvFormat,
  row: Members,
  cells: readonly string[],
  names: readonly string[],
): Omit<ImportEntry, "location"> {
  const take = (role: ColumnRole): string[] => row.texts(roleName(role));
  const kind = [...(format.kinds ?? [])].find(([type]) => row.takeIf("type", type))?.[1];
  const isFavorite = favoriteNames.some((name) => row.takeIf(name, "1", "true", "TRUE", "True"));
  for (const name of favoriteNames) row.takeIf(name, "0", "false", "FALSE", "False");
  const id = row.peek().find(({ name }) => name === format.idColumn)?.value as string | undefined;
  row.skip(...(format.ownColumns ?? []), ...(format.idColumn === undefined ? [] : [format.idColumn]));
  const own = format.readOwn?.(row, cells, names) ?? {};
  const toFields = (name: "email" | "username" | "password" | "url", values: readonly string[]): Field[] =>
    values.map((value) => ({ name, value }));
  const urls = [...take("url"), ...(own.urls ?? [])];
  const [title, ...otherTitles] = take("title");
  return {
    kind: own.kind ?? kind ?? (format.kinds !== undefined && row.has("type") ? "other" : "login"),
    title: title ?? (format.titleFromUrl === true ? getHost(urls[0] ?? "") : null),
    tags: [...take("tags").flatMap(format.toTags ?? ((tag) => tag)), ...(own.tags ?? [])],
    fields: [
      ...toFields("email", take("email")),
      ...toFields("username", take("username")),
      ...toFields("password", take("password")),
      ...toFields("url", urls),
      ...otherTitles.map((value): Field => ({ name: "title", value })),
      ...(own.fields ?? []),
    ],
    note: [...take("note"), ...(own.notes ?? [])].join("\n\n"),
    otp: [...take("otp"), ...(own.otp ?? [])],
    id: id ?? null,
    isFavorite,
  };
}

/** Bitwarden writes 1, 1Password true. */
const favoriteNames = ["favorite", "fav", "starred"] as const;

/** The name under which a row stores the cells of a role. */
function roleName(role: ColumnRole): string {
  return `role ${role}`;
}

function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/**
 * Whether a first row is an entry: it contains a URL, or no cell looks like the name of a column.
 */
function looksLikeEntry(cells: readonly string[]): boolean {
  return (
    cells.some((cell) => /^(?:https?:|otpauth:)/i.test(cell)) ||
    cells.every((cell) => cell.trim() === "" || (guessRole(normalizeName(cell)) === "field" && /[\d@]/.test(cell)))
  );
}

type Columns = Extract<Question, { status: "columns_needed" }>["columns"];

function guessColumns(names: readonly string[], rows: readonly CsvRow[], isFirstRowEntry: boolean): Columns {
  const takenRoles = new Set<ColumnRole>();
  return names.map((name, index) => {
    const samples: string[] = [];
    for (const { cells } of rows) {
      const cell = cells[index]?.trim() ?? "";
      if (cell !== "" && !samples.includes(cell)) samples.push(cell);
      if (samples.length === sampleCount) break;
    }
    const role = isFirstRowEntry ? guessRoleOfValues(samples, takenRoles) : guessRole(normalizeName(name));
    takenRoles.add(role);
    return { name: name.trim(), samples: samples.map((sample) => sample.slice(0, maxSampleLength)), role };
  });
}

function guessRoleOfValues(values: readonly string[], takenRoles: ReadonlySet<ColumnRole>): ColumnRole {
  const [value] = values;
  if (value === undefined) return "field";
  if (/^otpauth:/i.test(value)) return "otp";
  if (/^https?:/i.test(value)) return "url";
  if (/^\S+@\S+$/.test(value) && !takenRoles.has("username")) return "username";
  return takenRoles.has("title") ? "field" : "title";
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}
