import type { ColumnRole, ImportFormat, UnreadableFormat } from "@relicario/shared/contract";

import type { Field } from "./field.ts";
import type { ImportEntry } from "./item-collector.ts";
import type { Members } from "./members.ts";

/** Table format of a known program. */
export interface CsvFormat {
  readonly format: ImportFormat;
  /** Required columns, in lower case. No other format has all of them. */
  readonly columns: readonly string[];
  /**
   * Columns of some releases. If this list is set, a table with any further column has another
   * format.
   */
  readonly optionalColumns?: readonly string[];
  readonly roles: ReadonlyMap<string, ColumnRole>;
  /** Columns that the program writes for its own use. */
  readonly ownColumns?: readonly string[];
  readonly idColumn?: string;
  readonly toTags?: (text: string) => readonly string[];
  readonly titleFromUrl?: true;
  /** Kinds by the text in the column `type`. */
  readonly kinds?: ReadonlyMap<string, ImportEntry["kind"]>;
  /** Whether some releases write HTML entities into the file. */
  readonly hasEntities?: true;
  /** Reads columns whose cells have several parts. */
  readonly readOwn?: (row: Members, cells: readonly string[], names: readonly string[]) => OwnParts;
}

interface OwnParts {
  readonly tags?: readonly string[];
  readonly kind?: ImportEntry["kind"];
  readonly fields?: readonly Field[];
  readonly notes?: readonly string[];
  readonly urls?: readonly string[];
  readonly otp?: readonly string[];
}

/** Names that programs and people give to columns. */
const namesByRole: Readonly<Record<Exclude<ColumnRole, "field">, string>> = {
  title: "title,name,account,item name,entry,título,nombre,titel",
  username: "username,user name,user,login,login name,login_username,user id,usuario,benutzername",
  email: "email,e-mail,mail,email address,correo",
  password: "password,pass,pwd,login_password,contraseña,clave,passwort,kennwort",
  url: "url,uri,website,web site,website address,login_uri,link,site,web,sitio web",
  note: "note,notes,extra,comment,comments,remarks,nota,notas,notiz,notizen",
  otp: "otp,totp,otpauth,otpsecret,otpurl,login_totp,2fa,totp secret,totp seed,one-time password",
  tags: "tags,tag,folder,group,grouping,category,vault,collections,collection,labels,carpeta,grupo,etiquetas,ordner,gruppe",
};
const rolesByName: ReadonlyMap<string, ColumnRole> = new Map(
  Object.entries(namesByRole).flatMap(([role, names]) =>
    names.split(",").map((name) => [name, role as ColumnRole] as const),
  ),
);

export function guessRole(name: string): ColumnRole {
  return rolesByName.get(name) ?? "field";
}

/** Normalizes the name of a column for comparison. */
export function normalizeName(name: string): string {
  return name.trim().toLowerCase();
}

/** Maps these columns to the roles that their names suggest. */
const rolesOf = (...columns: readonly string[]): ReadonlyMap<string, ColumnRole> =>
  new Map(columns.map((column) => [column, guessRole(column)]));

const kinds: ReadonlyMap<string, ImportEntry["kind"]> = new Map([
  ["login", "login"],
  ["password", "login"],
  ["note", "note"],
  ["credit_card", "card"],
  ["identity", "identity"],
]);
const googleColumns = ["name", "url", "username", "password"] as const;

/** Tried in this order; the first match wins. */
const csvFormats: readonly CsvFormat[] = [
  {
    format: "bitwarden_csv",
    columns: ["type", "name", "login_uri", "login_username", "login_password"],
    roles: rolesOf("folder", "name", "notes", "login_uri", "login_username", "login_password", "login_totp"),
    ownColumns: ["reprompt", "archiveddate"],
    kinds,
    readOwn: (row) => ({
      tags: row.texts("collections").flatMap((collections) => collections.split(",")),
      fields: row.texts("fields").flatMap(parseCustomLines),
    }),
  },
  {
    format: "proton_pass",
    columns: ["type", "name", "url", "username", "password", "note", "totp", "vault"],
    roles: rolesOf("name", "url", "email", "username", "password", "note", "totp", "vault"),
    ownColumns: ["createtime", "modifytime"],
    kinds,
  },
  {
    format: "proton_pass",
    columns: [...googleColumns, "note", "totp"],
    optionalColumns: ["type", "email", "createtime", "modifytime"],
    roles: rolesOf(...googleColumns, "email", "note", "totp"),
    ownColumns: ["createtime", "modifytime"],
    kinds,
  },
  {
    format: "firefox_csv",
    columns: ["url", "username", "password", "httprealm", "formactionorigin"],
    roles: rolesOf("url", "username", "password"),
    ownColumns: ["formactionorigin", "timecreated", "timelastused", "timepasswordchanged"],
    idColumn: "guid",
    titleFromUrl: true,
  },
  {
    format: "lastpass_csv",
    columns: ["url", "username", "password", "extra", "name", "grouping"],
    roles: rolesOf("username", "password", "totp", "name", "grouping"),
    toTags: (path) => path.split("\\"),
    hasEntities: true,
    readOwn: readLastPassNote,
  },
  {
    format: "keepassxc_csv",
    columns: ["group", "title", "username", "password", "url", "notes"],
    optionalColumns: ["totp", "icon", "last modified", "created"],
    roles: rolesOf("group", "title", "username", "password", "url", "notes", "totp"),
    ownColumns: ["icon", "last modified", "created"],
    toTags: (path) => path.replace(/^(?:Root|Passwords)(?:\/|$)/, "").split("/"), // the database itself
  },
  {
    format: "keepass_csv",
    columns: ["account", "login name", "password", "web site", "comments"],
    roles: rolesOf("account", "login name", "password", "web site", "comments"),
  },
  {
    format: "dashlane_csv",
    columns: ["username2", "username3", "title", "password", "note", "url", "category"],
    roles: rolesOf("username", "title", "password", "note", "url", "category", "otpsecret", "otpurl", "otpauth"),
  },
  {
    format: "dashlane_csv",
    columns: ["account_holder", "cc_number", "code", "expiration_month", "expiration_year"],
    roles: new Map<string, ColumnRole>([
      ["account_name", "title"],
      ["note", "note"],
    ]),
    readOwn: (row) => ({
      kind: "card",
      fields: [
        { name: "holder", value: row.text("account_holder") },
        { name: "number", value: row.text("cc_number") },
        { name: "expiry", value: row.texts("expiration_month", "expiration_year").join("/") },
        { name: "code", value: row.text("code") },
      ],
    }),
  },
  {
    format: "dashlane_csv",
    columns: ["type", "number", "name", "issue_date", "expiration_date", "place_of_issue"],
    roles: rolesOf("name"),
    readOwn: () => ({ kind: "identity" }),
  },
  {
    format: "dashlane_csv",
    columns: ["type", "first_name", "last_name", "date_of_birth", "item_name", "address_recipient"],
    roles: new Map<string, ColumnRole>([...rolesOf("email", "url"), ["item_name", "title"]]),
    readOwn: () => ({ kind: "identity" }),
  },
  {
    format: "nordpass_csv",
    columns: ["name", "url", "username", "password", "note", "cardholdername", "cardnumber", "cvc", "expirydate"],
    roles: rolesOf("name", "url", "username", "password", "email", "note", "folder"),
    kinds,
    readOwn: (row) => ({
      ...(row.takeIf("type", "folder") ? { kind: "other" } : {}),
      urls: takeJsonList(row, "additional_urls", (url) => (typeof url === "string" ? url : null)) ?? [],
      fields: [
        { name: "holder", value: row.text("cardholdername") },
        { name: "number", value: row.text("cardnumber") },
        { name: "expiry", value: row.text("expirydate") },
        { name: "code", value: row.text("cvc") },
        { name: "pin", value: row.text("pin") },
        ...(takeJsonList(row, "custom_fields", toNordPassField) ?? []),
      ],
    }),
  },
  {
    format: "roboform_csv",
    columns: ["name", "url", "matchurl", "login", "pwd", "note", "folder"],
    roles: rolesOf("name", "url", "login", "pwd", "note", "folder"),
    toTags: (path) => path.split("/"),
    readOwn: readRoboFormFields,
  },
  {
    format: "keeper_csv",
    columns: ["folder", "title", "login", "password", "website address", "notes", "shared folder"],
    roles: new Map<string, ColumnRole>([
      ...rolesOf("folder", "title", "login", "password", "website address", "notes"),
      ["shared folder", "tags"],
    ]),
    toTags: (path) => path.split("\\"),
    readOwn: readKeeperPairs,
  },
  {
    format: "onepassword_csv",
    columns: ["title", "url", "username", "password", "otpauth", "tags"],
    roles: rolesOf("title", "url", "username", "password", "otpauth", "tags", "notes"),
    ownColumns: ["archived"],
    toTags: (tags) => tags.split(/[,;]/),
  },
  {
    format: "apple_csv",
    columns: ["title", "url", "username", "password", "otpauth"],
    optionalColumns: ["notes"],
    roles: rolesOf("title", "url", "username", "password", "notes", "otpauth"),
  },
  {
    format: "google_csv",
    columns: googleColumns,
    optionalColumns: ["note"],
    roles: rolesOf(...googleColumns, "note"),
  },
];

/** An unknown table, read by the roles that the person assigns to its columns. */
export const otherTable: CsvFormat = { format: "other_csv", columns: [], roles: new Map() };

/** Enpass writes alternating names and values, as many as an entry has. */
const enpassColumns: readonly string[] = ["title", "field", "*"];

/** Format of a table; null for an unknown one. */
export function findCsvFormat(columns: readonly string[]): CsvFormat | UnreadableFormat | null {
  const names = new Set(columns.filter((column) => column !== ""));
  if (enpassColumns.every((column) => names.has(column))) return "enpass_csv";
  return (
    csvFormats.find(
      ({ columns: required, optionalColumns }) =>
        required.every((column) => names.has(column)) &&
        (optionalColumns === undefined ||
          [...names].every((name) => required.includes(name) || optionalColumns.includes(name))),
    ) ?? null
  );
}

/** Parses Bitwarden's custom fields, one line `name: value` per field. */
function parseCustomLines(text: string): Field[] {
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

/**
 * Reads a row that may be a note, which LastPass marks with a special URL. A typed note has one
 * line per field; the text after `Notes:` is the person's.
 */
function readLastPassNote(row: Members): OwnParts {
  const [url, extra] = [row.text("url"), row.text("extra")];
  const notes = extra === null ? [] : [extra];
  if (url !== "http://sn") return { notes, urls: url === null || url === "http://group" ? [] : [url] };
  if (extra === null || !extra.startsWith("NoteType:")) return { kind: "note", notes };
  const fields: { name: { own: string }; value: string }[] = [];
  const lines = extra.split(/\r?\n/);
  const notesAt = lines.findIndex((line) => line.startsWith("Notes:"));
  for (const line of notesAt < 0 ? lines : lines.slice(0, notesAt)) {
    const separator = line.indexOf(":");
    if (separator > 0) fields.push({ name: { own: line.slice(0, separator) }, value: line.slice(separator + 1) });
    else if (fields.length === 0) fields.push({ name: { own: "…" }, value: line });
    else for (const previous of fields.slice(-1)) previous.value += `\n${line}`; // a key with several lines
  }
  const ownNote = notesAt < 0 ? "" : lines.slice(notesAt).join("\n").slice("Notes:".length);
  return {
    kind: /^NoteType:\s*Credit Card/.test(extra) ? "card" : "note",
    fields,
    notes: ownNote.trim() === "" ? [] : [ownNote],
  };
}

/** Takes a cell with a JSON list. Null for any other cell, which then stays in the row. */
function takeJsonList<T>(row: Members, column: string, toElement: (element: unknown) => T | null): T[] | null {
  const text = row.peek().find(({ name }) => name === column)?.value;
  if (typeof text !== "string") return null;
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return null;
    const elements = list.map(toElement);
    if (elements.includes(null)) return null;
    row.text(column);
    return elements.filter((element): element is T & {} => element !== null);
  } catch {
    return null; // not JSON: the text itself becomes a field
  }
}

function toNordPassField(element: unknown): Field | null {
  const { label, value, type, ...rest } = element as Readonly<Record<string, unknown>>;
  return typeof label === "string" && typeof value === "string" && Object.keys(rest).length === 0
    ? { name: { own: label }, value, kind: type === "text" ? "text" : "secret" }
    : null;
}

/** Reads RoboForm's fields. Each cell holds a name, three parts of the form, and a value. */
function readRoboFormFields(row: Members): OwnParts {
  const [fields, otp]: [Field[], string[]] = [[], []];
  const isRepeated = (value: string): boolean => row.peek().some((member) => member.value === value);
  for (const cell of row.texts("rffieldsv2", "")) {
    const [, name = "", value = ""] = /^([^,]*),(?:[^,]*,){3}(.*)$/s.exec(cell) ?? [];
    if (name === "TOTP KEY$") otp.push(value);
    else if (name === "") fields.push({ name: { own: "…" }, value: cell });
    else if (!name.endsWith("$") || !isRepeated(value)) fields.push({ name: { own: name }, value });
  }
  return { fields, otp };
}

/** Reads Keeper's pairs of name and value, which follow the other columns. */
function readKeeperPairs(row: Members, rowCells: readonly string[], names: readonly string[]): OwnParts {
  const cells = rowCells.filter((_, index) => ["custom fields", ""].includes(names[index] ?? ""));
  row.texts("custom fields", "");
  const [fields, otp]: [Field[], string[]] = [[], []];
  for (let index = 0; index < cells.length; index += 2) {
    const [name = "", value = ""] = [cells[index], cells[index + 1]];
    if (name === "TFC:Keeper") otp.push(value);
    else fields.push(value === "" ? { name: { own: "…" }, value: name } : { name: { own: name || "…" }, value });
  }
  return { fields, otp };
}
