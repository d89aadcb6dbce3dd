import type {
  ImportItem,
  ImportComparison,
  ImportReadOptions,
  ImportReadResult,
  VaultImports,
} from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { isValidText, getNewestVersion, type FakeAccount } from "./fake-account.ts";
import type { RecordCall } from "./fake-call.ts";
import { readBlobText } from "./fake-picture-field.tsx";

export interface FakeImportsSettings {
  /** Error that stops the first import after one item. */
  readonly importStopCode?: ErrorCode;
  /** Result of reading any file, or a function that gets the exit identity and the answers. */
  readonly importReadResult?:
    | ImportReadResult
    | ((exitIdentity: string | undefined, options: ImportReadOptions) => ImportReadResult);
}

/** Creates the imports of the fake vault, in memory. It compares items by source and content. */
export function createFakeImports(
  { importReadResult, ...settings }: FakeImportsSettings,
  account: FakeAccount,
  recordCall: RecordCall,
): VaultImports {
  const importsBySourceId = new Map<string, { readonly secretId: string; readonly fingerprint: string }>();
  let importStopCode = settings.importStopCode ?? null;

  async function compare(item: ImportItem): Promise<ImportComparison & { readonly fingerprint: string }> {
    const fingerprint = JSON.stringify([
      item.title,
      item.tags,
      item.name,
      item.mime,
      item.canonicalContent ?? (await readBlobText(item.content)),
    ]);
    const previous = importsBySourceId.get(item.sourceId);
    if (previous === undefined || account.secrets.get(previous.secretId)?.deletedAt !== null)
      return { status: "new", fingerprint };
    return {
      status: previous.fingerprint === fingerprint ? "same" : "changed",
      secretId: previous.secretId,
      fingerprint,
    };
  }

  async function storeItem(
    item: ImportItem,
    comparison: ImportComparison & { readonly fingerprint: string },
  ): Promise<void> {
    const content = { ...item, content: await readBlobText(item.content) };
    const { title, tags, sourceId } = item;
    const secretId = comparison.status === "new" ? account.addSecret(content) : comparison.secretId;
    if (comparison.status === "changed")
      account.addVersion(secretId, content, getNewestVersion(account.requireSecret(secretId)).openers, { title, tags });
    importsBySourceId.set(sourceId, { secretId, fingerprint: comparison.fingerprint });
  }

  return {
    read: (_files, options) => {
      return new Promise((resolve) => {
        recordCall("imports.read", options);
        if (importReadResult === undefined) throw new PortalError("vault_unavailable");
        resolve(
          typeof importReadResult === "function" ? importReadResult(options.exitIdentity, options) : importReadResult,
        );
      });
    },
    compare: async (items, options) => {
      recordCall("imports.compare", options);
      if (account.getState().status === "locked") throw new PortalError("vault_locked");
      const comparisons = await Promise.all(items.map(compare));
      return comparisons.map(({ fingerprint: _, ...comparison }) => comparison);
    },
    store: async (items, handle, options) => {
      recordCall("imports.store", options);
      if (account.openers.length === 0)
        await account.resolveProtection({ kind: "picture", picture: handle, name: options?.name ?? "" });
      else await account.presentHandle(handle);
      account.unlock();
      const counts = { new: 0, changed: 0, same: 0 };
      const failures: { index: number; code: ErrorCode }[] = [];
      let stopReason: ErrorCode | null = null;
      for (const [index, item] of items.entries()) {
        if (counts.new > 0 && importStopCode !== null) {
          [stopReason, importStopCode] = [importStopCode, null];
          break;
        }
        const comparison = await compare(item);
        if (!isValidText(item.title)) failures.push({ index, code: "validation_error" });
        else {
          if (comparison.status !== "same") await storeItem(item, comparison);
          counts[comparison.status] += 1;
        }
        options?.onProgress?.({ phase: "sending", done: index + 1, total: items.length });
      }
      return { added: counts.new, updated: counts.changed, unchanged: counts.same, failures, stopReason };
    },
  };
}
