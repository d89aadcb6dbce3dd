import Papa from "papaparse";

import type { ImportFormat } from "@relicario/shared/contract";

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
    entryOf: (row) => ({ kind: "login", title: hostOf(row["url"] ?? ""), tags: [], fields: login(row, "url", "username", "password"), note: null, otp: [] }),
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
    entryOf: (row) => ({ kind: "login", title: row["name"], tags: [], fields: login(row, "url", "username", "password"), note: row["note"], otp: [] }),
  },
];

/** A table with a line of names. @throws Refused `unknown_format`, `too_large`. */
export function readCsv(text: string, words: Words): { readonly format: ImportFormat; readonly items: Items } {
  const { data, errors } = Papa.parse<string[]>(text, { header: false, skipEmptyLines: "greedy", preview: maxItems + 2 });
  const [names = [], ...lines] = data;
  if (lines.length > maxItems) throw new Refused("too_large");
  const columns = names.map((name) => name.trim().toLowerCase());
  const table = tables.find((one) => one.columns.every((column) => columns.includes(column)));
  if (table === undefined) throw new Refused("unknown_format");
  const items = new Items(table.format, words);
  const broken = new Set(errors.map(({ row }) => row));
  for (const [at, cells] of lines.entries()) {
    const place = String(at + 2); // as a spreadsheet counts, the names first
    if (cells.length !== columns.length || broken.has(at + 1)) {
      items.fail(place, "damaged");
      continue;
    }
    const row = Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]));
    items.add({ ...table.entryOf(row), id: row["guid"] === "" ? null : (row["guid"] ?? null), place });
  }
  return { format: table.format, items };
}

/** Bitwarden writes a line `name: value` for each. */
function ownFields(text: string): Entry["fields"] {
  return text.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(": ");
    return line.trim() === "" ? [] : [{ name: { own: at < 0 ? "…" : line.slice(0, at) }, value: at < 0 ? line : line.slice(at + 2) }];
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
