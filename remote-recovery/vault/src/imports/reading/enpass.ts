import type { Field } from "./field.ts";
import { FolderNames } from "./folder-names.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { firstNonEmpty } from "./item-values.ts";
import { decodeBase64 } from "./keepass-fields.ts";
import { Members } from "./members.ts";

const itemKinds: ReadonlyMap<string, ImportEntry["kind"]> = new Map([
  ["login", "login"],
  ["password", "login"],
  ["creditcard", "card"],
  ["note", "note"],
  ["identity", "identity"],
]);
const fieldNamesByType: ReadonlyMap<string | null, Field["name"]> = new Map<string, Field["name"]>([
  ["username", "username"],
  ["email", "email"],
  ["password", "password"],
  ["url", "url"],
  ["ccName", "holder"],
  ["ccType", "brand"],
  ["ccNumber", "number"],
  ["ccExpiry", "expiry"],
  ["ccCvc", "code"],
  ["ccPin", "pin"],
]);

/** Default labels of Enpass for these fields. */
const usualLabels =
  /^(?:user ?name|login|e-?mail|password|website|url|cardholder(?: name)?|type|number|cvc|pin|expiry(?: date)?|totp|one-time code)$/i;

/** Only Enpass's items have a template type. */
export function isEnpass({ items }: Readonly<Record<string, unknown>>): boolean {
  return (
    Array.isArray(items) && items.some((item) => typeof item === "object" && item !== null && "template_type" in item)
  );
}

/**
 * Reads Enpass's JSON with its attachments.
 * @throws ImportRefusedError `damaged`
 */
export function readEnpass(json: object, texts: ImportTexts): ItemCollector {
  const collector = new ItemCollector("enpass_json", texts);
  const root = Members.of(json, collector.leftOut);
  if (root === null) throw new ImportRefusedError("damaged");
  const folders = root.objectList("folders");
  for (const folder of folders) folder.skip("icon", "updated_at");
  const folderNames = new FolderNames(folders, "uuid", "title", "parent_uuid");
  for (const [index, rawItem] of root.list("items").entries()) {
    const item = Members.of(rawItem, collector.leftOut);
    const title = item?.text("title") ?? null;
    const location = firstNonEmpty(title) ?? String(index + 1);
    if (item === null) collector.addDamaged(location, rawItem);
    else if ((item.integer("trashed") ?? 0) > 0) collector.addFailure(location, "in_trash");
    else collector.add({ ...readItem(item, folderNames, collector, location), title, location });
  }
  folderNames.reportUnused(collector);
  collector.addRest("Enpass", root);
  return collector;
}

function readItem(
  item: Members,
  folderNames: FolderNames,
  collector: ItemCollector,
  location: string,
): Omit<ImportEntry, "title" | "location"> {
  const { leftOut } = collector;
  const [fields, former, otp]: [Field[], Field[], string[]] = [[], [], []];
  let sections: readonly string[] = [];
  const emptySections = new Set<string>();
  for (const field of item.objectList("fields")) {
    const sensitivity = field.integer("sensitive");
    field.skip("uid", "order", "sensitive", "updated_at", "value_updated_at", "deleted");
    const [type, label, value] = [field.text("type"), field.text("label"), field.text("value")];
    const history = field.objectList("history");
    const standardName = fieldNamesByType.get(type);
    if (standardName === undefined && type !== "totp") collector.leaveOut(type === null ? null : "Type");
    // the person's own label becomes a section before our name
    const isOwnLabel = label !== null && standardName !== undefined && !usualLabels.test(label);
    const [name, path] = [standardName ?? { own: label ?? "…" }, isOwnLabel ? [...sections, label] : sections];
    if (type === "section" && value === null) {
      sections = label === null ? [] : [label];
      if (label !== null) emptySections.add(label);
      continue;
    }
    const replaced = history.flatMap((previous): Field[] => {
      const [formerValue, time] = [previous.text("value"), previous.text("updated_at")];
      return formerValue === null ? [] : [{ name, value: formerValue, former: time, sections: path }];
    });
    former.push(...replaced);
    if (type === "totp" && value !== null) {
      otp.push(value);
      if (label !== null && !usualLabels.test(label)) fields.push({ name: "otp", value: label });
    } else if (value !== null) {
      const kind = standardName !== undefined || sensitivity === null ? undefined : sensitivity > 0 ? "secret" : "text";
      fields.push({ name, value, sections: path, kind });
    }
    if (value !== null || replaced.length > 0) for (const section of sections) emptySections.delete(section);
    else if (label !== null) leftOut.add(label); // the field has no value
    if (type === "totp") for (const section of sections) leftOut.add(section); // a seed cannot keep its section
  }
  for (const section of emptySections) leftOut.add(section);
  item.skip("archived", "auto_submit", "subtitle", "updated_at", "created_at", "icon", "template_type");
  const attachments = [];
  const files = item.objectList("attachments");
  for (const file of files) {
    file.skip("uuid", "updated_at", "order", "size");
    const [name, mime, content] = [file.text("name") ?? "…", file.text("kind"), decodeBase64(file.text("data") ?? "")];
    if (content === null) collector.addFailure(`${location}: ${name}`, "damaged");
    else attachments.push({ name, content: new Blob([content]), ...(mime === null ? {} : { mime }) });
  }
  const [note, id, favorite] = [item.text("note"), item.text("uuid"), item.integer("favorite")];
  const [kind, tags] = [
    item.lookUp("category", itemKinds),
    folderNames.resolve(item.textList("folders"), "Folders", collector),
  ];
  return {
    kind: kind ?? "other",
    tags,
    fields: [...fields, ...item.rest(), ...former],
    note,
    otp,
    id,
    isFavorite: (favorite ?? 0) > 0,
    attachments,
    hasReportedFailure: attachments.length < files.length,
    members: item,
  };
}
