import { FolderNames } from "./folder-names.ts";
import { ItemCollector } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { firstNonEmpty } from "./item-values.ts";
import { Members } from "./members.ts";
import { formatOtpAddress } from "./otp-address.ts";

/** Only Aegis's JSON has both of these members. */
export function isAegis(root: Readonly<Record<string, unknown>>): boolean {
  return "db" in root && "header" in root;
}

/**
 * Reads Aegis's JSON.
 * @throws ImportRefusedError `encrypted`, `damaged`
 */
export function readAegis(json: object, texts: ImportTexts): ItemCollector {
  const collector = new ItemCollector("aegis_json", texts);
  const root = Members.of(json, collector.leftOut);
  if (root === null) throw new ImportRefusedError("damaged");
  root.skip("version", "header");
  if (root.text("db") !== null) throw new ImportRefusedError("encrypted");
  const database = root.object("db");
  database.skip("version", "icons_optimized");
  const groupNames = new FolderNames(database.objectList("groups"), "uuid", "name");
  for (const [index, rawEntry] of database.list("entries").entries()) {
    const entry = Members.of(rawEntry, collector.leftOut);
    if (entry === null) {
      collector.addDamaged(String(index + 1), rawEntry);
      continue;
    }
    entry.skip("icon", "icon_mime", "icon_hash");
    const [issuer, account, type, info] = [
      entry.text("issuer"),
      entry.text("name"),
      entry.text("type"),
      entry.object("info"),
    ];
    const secret = info.text("secret");
    const title = [issuer, account].filter((part) => firstNonEmpty(part) !== null).join(": ");
    // other kinds have members of their own, which become fields
    const otp =
      secret === null
        ? []
        : type === "totp" || type === "hotp" || type === "steam"
          ? [
              formatOtpAddress({
                kind: type === "hotp" ? "hotp" : "totp",
                secret,
                issuer,
                account,
                algorithm: info.text("algo"),
                digits: info.text("digits"),
                period: info.text("period"),
                counter: info.text("counter"),
                ...(type === "steam" ? { encoder: "steam" } : {}),
              }),
            ]
          : [secret];
    const group = entry.text("group");
    collector.add({
      kind: "login",
      title,
      tags: [group, ...groupNames.resolve(entry.textList("groups"), "Groups", collector)],
      fields: otp.length > 0 && otp[0] !== secret ? [] : [{ name: { own: "Type" }, value: type }],
      note: entry.text("note"),
      otp,
      id: entry.text("uuid"),
      location: title || String(index + 1),
      isFavorite: entry.flag("favorite"),
      members: entry,
    });
  }
  groupNames.reportUnused(collector);
  collector.addRest("Aegis", root);
  return collector;
}
