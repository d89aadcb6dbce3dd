import Papa from "papaparse";

import type { ImportFormat } from "@relicario/shared/contract";

import { firstNonEmpty } from "./item-values.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { maxItems } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./words.ts";

type Row = Readonly<Record<string, string>>;

interface CsvFormat {
  readonly format: ImportFormat;
  /** Columns that this table has, and no other one has together. */
  readonly columns: readonly string[];
  readonly toEntry: (row: Row) => Omit<ImportEntry, "place" | "id">;
}

const createLoginFields = (row: Row, url: string, username: string, password: string): ImportEntry["fields"] => [
  { name: "username", value: row[username] },
  { name: "password", value: row[password] },
  { name: "url", value: row[url] },
];

/** In this order: the first whose columns are all there. */
const csvFormats: readonly CsvFormat[] = [
  {
    format: "bitwarden_csv",
    columns: ["folder", "type", "name", "notes", "login_uri", "login_username", "login_password"],
    toEntry: (row) => ({
      kind: row["type"] === "note" ? "note" : "login",
      title: row["name"],
      tags: [row["folder"], ...(row["collections"] ?? "").split(",")],
      fields: [
        ...createLoginFields(row, "login_uri", "login_username", "login_password"),
        ...parseCustomFields(row["fields"] ?? ""),
      ],
      note: row["notes"],
      otp: [row["login_totp"]],
    }),
  },
  {
    format: "proton_pass",
    columns: ["type", "name", "url", "username", "password", "note", "totp", "vault"],
    toEntry: (row) => ({
      kind: row["type"] === "note" ? "note" : row["type"] === "login" ? "login" : "other",
      title: row["name"],
      tags: [row["vault"]],
      fields: [{ name: "email", value: row["email"] }, ...createLoginFields(row, "url", "username", "password")],
      note: row["note"],
      otp: [row["totp"]],
    }),
  },
  {
    format: "firefox_csv",
    columns: ["url", "username", "password", "httprealm", "formactionorigin"],
    toEntry: (row) => ({
      kind: "login",
      title: getHost(row["url"] ?? ""),
      tags: [],
      fields: createLoginFields(row, "url", "username", "password"),
      note: null,
      otp: [],
    }),
  },
  {
    format: "onepassword_csv",
    columns: ["title", "username", "password"],
    toEntry: (row) => ({
      kind: "login",
      title: row["title"],
      tags: (row["tags"] ?? "").split(/[,;]/),
      fields: createLoginFields(row, "url" in row ? "url" : "website", "username", "password"),
      note: row["notes"],
      otp: [row["otpauth"]],
    }),
  },
  {
    format: "google_csv",
    columns: ["name", "url", "username", "password"],
    toEntry: (row) => ({
      kind: "login",
      title: row["name"],
      tags: [],
      fields: createLoginFields(row, "url", "username", "password"),
      note: row["note"],
      otp: [],
    }),
  },
];

/** A table with a line of names. @throws Refused `unknown_format`, `too_large`. */
export function readCsv(
  text: string,
  texts: ImportTexts,
): { readonly format: ImportFormat; readonly items: ItemCollector } {
  // blank lines are among them: they count as rows
  const { data, errors } = Papa.parse<string[]>(text, { header: false, preview: 2 * maxItems });
  const headerIndex = Math.max(
    0,
    data.findIndex((cells) => !isBlank(cells)),
  );
  const [headerNames = [], ...dataRows] = data.slice(headerIndex);
  if (data.length === 2 * maxItems || dataRows.filter((cells) => !isBlank(cells)).length > maxItems)
    throw new ImportRefusedError("too_large");
  const columns = headerNames.map((name) => name.trim().toLowerCase());
  const csvFormat = csvFormats.find((candidate) => candidate.columns.every((column) => columns.includes(column)));
  if (csvFormat === undefined) throw new ImportRefusedError("unknown_format");
  const collector = new ItemCollector(csvFormat.format, texts);
  const brokenRows = new Set(errors.map(({ row }) => row));
  for (const [rowIndex, cells] of dataRows.entries()) {
    if (isBlank(cells)) continue;
    const rowNumber = String(headerIndex + rowIndex + 2); // as a spreadsheet counts, the names first
    if (cells.length !== columns.length || brokenRows.has(headerIndex + rowIndex + 1)) {
      collector.addFailure(rowNumber, "damaged");
      continue;
    }
    const row = Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]));
    const entry = csvFormat.toEntry(row);
    const otherFields = columns.flatMap((column, index) =>
      knownColumns.has(column)
        ? []
        : [{ name: { own: firstNonEmpty(headerNames[index])?.trim() ?? "…" }, value: cells[index] }],
    );
    const title = entry.title?.trim() ?? "";
    collector.add({
      ...entry,
      fields: [...entry.fields, ...otherFields],
      isFavorite: isTrueCell(row["favorite"]),
      id: row["guid"] === "" ? null : (row["guid"] ?? null),
      place: title === "" ? rowNumber : `${rowNumber} (${title})`,
    });
  }
  return { format: csvFormat.format, items: collector };
}

/** Bitwarden writes 1, 1Password true. */
function isTrueCell(cell: string | undefined): boolean {
  return ["1", "true"].includes(cell?.trim().toLowerCase() ?? "");
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}

/**
 * Columns that are read by their names, in any table, and those that its program alone makes
 * something of.
 */
const knownColumns: ReadonlySet<string> = new Set([
  ...["folder", "collections", "type", "name", "title", "notes", "note", "fields", "tags", "vault", "guid"],
  ...[
    "username",
    "password",
    "url",
    "website",
    "email",
    "totp",
    "otpauth",
    "login_uri",
    "login_username",
    "login_password",
    "login_totp",
  ],
  ...[
    "favorite",
    "archived",
    "reprompt",
    "createtime",
    "modifytime",
    "formactionorigin",
    "timecreated",
    "timelastused",
    "timepasswordchanged",
  ],
]);

/** Bitwarden writes a line `name: value` for each. */
function parseCustomFields(text: string): ImportEntry["fields"] {
  return text.split(/\r?\n/).flatMap((line) => {
    const separator = line.indexOf(": ");
    return line.trim() === ""
      ? []
      : [
          {
            name: { own: separator < 0 ? "…" : line.slice(0, separator) },
            value: separator < 0 ? line : line.slice(separator + 2),
          },
        ];
  });
}

function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
