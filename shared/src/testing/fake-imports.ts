import type { ImportItem, ImportStanding, ReadImport, VaultImports } from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { isText, newestOf, type FakeAccount } from "./fake-account.ts";
import type { Enter } from "./fake-call.ts";
import { textOf } from "./fake-picture-field.tsx";

export interface FakeImportsSettings {
  /** Stops the first import after one item. */
  readonly importStop?: ErrorCode;
  /** What files hold that are imported; by the exit identity where it is asked for. */
  readonly importRead?: ReadImport | ((exitIdentity: string | undefined) => ReadImport);
}

/** Imports of the fake vault, in memory: items by their origin, and by what they hold. */
export function createFakeImports(
  { importRead, ...settings }: FakeImportsSettings,
  account: FakeAccount,
  enter: Enter,
): VaultImports {
  const imported = new Map<string, { readonly secretId: string; readonly mark: string }>();
  let importStop = settings.importStop ?? null;

  async function compare(item: ImportItem): Promise<ImportStanding & { readonly mark: string }> {
    const mark = JSON.stringify([
      item.title,
      item.tags,
      item.name,
      item.mime,
      item.holds ?? (await textOf(item.content)),
    ]);
    const known = imported.get(item.origin);
    if (known === undefined || account.secrets.get(known.secretId)?.deletedAt !== null)
      return { standing: "new", mark };
    return { standing: known.mark === mark ? "same" : "changed", secretId: known.secretId, mark };
  }

  async function storeOne(item: ImportItem, standing: ImportStanding & { readonly mark: string }): Promise<void> {
    const content = { ...item, content: await textOf(item.content) };
    const { title, tags, origin } = item;
    const secretId = standing.standing === "new" ? account.addSecret(content) : standing.secretId;
    if (standing.standing === "changed")
      account.addVersion(secretId, content, newestOf(account.require(secretId)).openers, { title, tags });
    imported.set(origin, { secretId, mark: standing.mark });
  }

  return {
    read: (_files, options) => {
      return new Promise((resolve) => {
        enter("imports.read", options);
        if (importRead === undefined) throw new PortalError("vault_unavailable");
        resolve(typeof importRead === "function" ? importRead(options.exitIdentity) : importRead);
      });
    },
    compare: async (items, options) => {
      enter("imports.compare", options);
      if (account.getState().status === "locked") throw new PortalError("vault_locked");
      const compared = await Promise.all(items.map(compare));
      return compared.map(({ mark: _, ...standing }) => standing);
    },
    store: async (items, shown, options) => {
      enter("imports.store", options);
      if (account.openers.length === 0) await account.choose({ kind: "picture", shown, name: options?.name ?? "" });
      else await account.show(shown);
      account.unlock();
      const counts = { new: 0, changed: 0, same: 0 };
      const failed: { index: number; code: ErrorCode }[] = [];
      let stopped: ErrorCode | null = null;
      for (const [index, item] of items.entries()) {
        if (counts.new > 0 && importStop !== null) {
          [stopped, importStop] = [importStop, null];
          break;
        }
        const standing = await compare(item);
        if (!isText(item.title)) failed.push({ index, code: "validation_error" });
        else {
          if (standing.standing !== "same") await storeOne(item, standing);
          counts[standing.standing] += 1;
        }
        options?.onProgress?.({ phase: "sending", done: index + 1, total: items.length });
      }
      return { added: counts.new, updated: counts.changed, same: counts.same, failed, stopped };
    },
  };
}
