import type { Field } from "./field.ts";
import { ItemCollector } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { firstNonEmpty, toFields } from "./item-values.ts";
import { Members } from "./members.ts";

/** Only Keeper's JSON has records. */
export function isKeeper({ records }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(records);
}

/**
 * Reads Keeper's JSON, which has no attachments.
 * @throws ImportRefusedError `damaged`
 */
export function readKeeper(json: object, texts: ImportTexts): ItemCollector {
  const collector = new ItemCollector("keeper_json", texts);
  const root = Members.of(json, collector.leftOut);
  if (root === null) throw new ImportRefusedError("damaged");
  root.skip("shared_folders"); // permissions in shared folders
  for (const [index, rawRecord] of root.list("records").entries()) {
    const record = Members.of(rawRecord, collector.leftOut);
    const title = record?.text("title") ?? null;
    const location = firstNonEmpty(title) ?? String(index + 1);
    if (record === null) {
      collector.addDamaged(location, rawRecord);
      continue;
    }
    record.skip("$type", "last_modified", "schema", "references");
    const tags = record.objectList("folders").flatMap((folder) => {
      folder.skip("can_edit", "can_share");
      return folder.texts("folder", "shared_folder").flatMap((path) => path.split("\\"));
    });
    const [otp, customFields]: [string[], Field[]] = [[], []];
    for (const { name, value } of record.object("custom_fields").takeAll()) {
      const isSeed = name === "TFC:Keeper" || /^\$oneTimeCode\b/.test(name);
      if (isSeed && typeof value === "string") otp.push(value);
      else customFields.push(...toFields(toLabel(name), value));
    }
    collector.add({
      kind: "login",
      title,
      tags,
      fields: [
        { name: "username", value: record.text("login") },
        { name: "password", value: record.text("password") },
        { name: "url", value: record.text("login_url") },
        ...customFields,
      ],
      note: record.text("notes"),
      otp,
      id: record.text("uid"),
      location,
      members: record,
    });
  }
  collector.addRest("Keeper", root);
  return collector;
}

/** Label of a field, whose name has the form `$type:label:number`. */
function toLabel(name: string): string {
  const [, type = "", label = ""] = /^\$(\w+):?([^:]*)(?::\d+)?$/.exec(name) ?? [];
  return label || type || name;
}
