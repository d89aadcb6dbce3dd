import Papa from "papaparse";

import type { ImportFormat } from "@relicario/shared/contract";

import { firstOf } from "./facts.ts";
import { Items, type Entry } from "./items.ts";
import { maxItems } from "./limits.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";

type Row = Readonly<Record<string, string>>;

interface Table {
  readonly format: ImportFormat;
  /** Columns that this table has, and no other one has together. */
  readonly columns: readonly string[];
  readonly entryOf: (row: Row) => Omit<Entry, "place" | "id">;
}

const login = (row: Row, url: string, username: string, password: string): Entry["fields"] => [
  { name: "username", value: row[username] },
  { name: "password", value: row[password] },
  { name: "url", value: row[url] },
];

/** In this order: the first whose columns are all there. */
const tables: readonly Table[] = [
  {
    format: "bitwarden_csv",
    columns: ["folder", "type", "name", "notes", "login_uri", "login_username", "login_password"],
    entryOf: (row) => ({
      kind: row["type"] === "note" ? "note" : "login",
      title: row["name"],
      tags: [row["folder"], ...(row["collections"] ?? "").split(",")],
      fields: [...login(row, "login_uri", "login_username", "login_password"), ...ownFields(row["fields"] ?? "")],
      note: row["notes"],
      otp: [row["login_totp"]],
    }),
  },
  {
    format: "proton_pass",
    columns: ["type", "name", "url", "username", "password", "note", "totp", "vault"],
    entryOf: (row) => ({
      kind: row["type"] === "note" ? "note" : row["type"] === "login" ? "login" : "other",
      title: row["name"],
      tags: [row["vault"]],
      fields: [{ name: "email", value: row["email"] }, ...login(row, "url", "username", "password")],
      note: row["note"],
      otp: [row["totp"]],
    }),
  },
  {
    format: "firefox_csv",
    columns: ["url", "username", "password", "httprealm", "formactionorigin"],
    entryOf: (row) => ({
      kind: "login",
      title: hostOf(row["url"] ?? ""),
      tags: [],
      fields: login(row, "url", "username", "password"),
      note: null,
      otp: [],
    }),
  },
  {
    format: "onepassword_csv",
    columns: ["title", "username", "password"],
    entryOf: (row) => ({
      kind: "login",
      title: row["title"],
      tags: (row["tags"] ?? "").split(/[,;]/),
      fields: login(row, "url" in row ? "url" : "website", "username", "password"),
      note: row["notes"],
      otp: [row["otpauth"]],
    }),
  },
  {
    format: "google_csv",
    columns: ["name", "url", "username", "password"],
    entryOf: (row) => ({
      kind: "login",
      title: row["name"],
      tags: [],
      fields: login(row, "url", "username", "password"),
      note: row["note"],
      otp: [],
    }),
  },
];

/** A table with a line of names. @throws Refused `unknown_format`, `too_large`. */
export function readCsv(text: string, words: Words): { readonly format: ImportFormat; readonly items: Items } {
  // blank lines are among them: they count as rows
  const { data, errors } = Papa.parse<string[]>(text, { header: false, preview: 2 * maxItems });
  const head = Math.max(
    0,
    data.findIndex((cells) => !isBlank(cells)),
  );
  const [names = [], ...lines] = data.slice(head);
  if (data.length === 2 * maxItems || lines.filter((cells) => !isBlank(cells)).length > maxItems)
    throw new Refused("too_large");
  const columns = names.map((name) => name.trim().toLowerCase());
  const table = tables.find((one) => one.columns.every((column) => columns.includes(column)));
  if (table === undefined) throw new Refused("unknown_format");
  const items = new Items(table.format, words);
  const broken = new Set(errors.map(({ row }) => row));
  for (const [at, cells] of lines.entries()) {
    if (isBlank(cells)) continue;
    const number = String(head + at + 2); // as a spreadsheet counts, the names first
    if (cells.length !== columns.length || broken.has(head + at + 1)) {
      items.fail(number, "damaged");
      continue;
    }
    const row = Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]));
    const entry = table.entryOf(row);
    const others = columns.flatMap((column, index) =>
      readColumns.has(column) ? [] : [{ name: { own: firstOf(names[index])?.trim() ?? "…" }, value: cells[index] }],
    );
    const title = entry.title?.trim() ?? "";
    items.add({
      ...entry,
      fields: [...entry.fields, ...others],
      isFavorite: isYes(row["favorite"]),
      id: row["guid"] === "" ? null : (row["guid"] ?? null),
      place: title === "" ? number : `${number} (${title})`,
    });
  }
  return { format: table.format, items };
}

/** Bitwarden writes 1, 1Password true. */
function isYes(cell: string | undefined): boolean {
  return ["1", "true"].includes(cell?.trim().toLowerCase() ?? "");
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}

/**
 * Columns that are read by their names, in any table, and those that its program alone makes
 * something of.
 */
const readColumns: ReadonlySet<string> = new Set([
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
function ownFields(text: string): Entry["fields"] {
  return text.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(": ");
    return line.trim() === ""
      ? []
      : [{ name: { own: at < 0 ? "…" : line.slice(0, at) }, value: at < 0 ? line : line.slice(at + 2) }];
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
