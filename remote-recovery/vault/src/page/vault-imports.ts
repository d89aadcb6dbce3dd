import { raceAbort } from "@relicario/engine/abortable-calls";
import { maxSmallContentBytes } from "@relicario/shared/api";
import type { CallOptions, ImportItem, Vault, VaultImports } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { requirePresented } from "../rpc/presented-opener.ts";
import type { Uploads } from "./uploads.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { ComparedItem } from "../imports/compare-import.ts";
import type { ImportWorkerApi } from "../imports/import-worker-api.ts";
import { isItemError } from "../imports/item-errors.ts";
import { trySetFavorite, toFailedFavoriteFields } from "../imports/favorites.ts";

export interface ImportDeps {
  readonly compare: VaultWorkerApi["compareImport"];
  readonly importSecrets: VaultWorkerApi["importSecrets"];
  readonly setFavorite: Vault["setFavorite"];
  readonly startReader: () => Promise<RunningWorker<ImportWorkerApi>>;
  readonly uploads: Pick<Uploads, "protect" | "update">;
}

/**
 * Implements the contract's import members. The vault's worker stores small items, a hundred per
 * call. Large items become uploads.
 */
export function createVaultImports({
  compare,
  importSecrets,
  setFavorite,
  startReader,
  uploads,
}: ImportDeps): VaultImports {
  /** Runs `callback` with a new worker, which then ends and drops its plaintext. */
  const withImportWorker = async <T>(
    callback: (remote: Comlink.Remote<ImportWorkerApi>, failurePromise: Promise<never>) => Promise<T>,
  ): Promise<T> => {
    const reader = await startReader();
    const failurePromise = new Promise<never>((_, reject) => {
      void reader.failure.then(reject);
    });
    try {
      return await callback(reader.remote, failurePromise);
    } finally {
      reader.end();
    }
  };
  /** Opens a sealed content only for `callback`, because it may exceed the memory. */
  const withContent = async <T>(
    { content, contentKind, sealedContent }: ImportItem,
    { signal }: Pick<CallOptions, "signal">,
    callback: (content: Blob) => Promise<T>,
  ): Promise<T> => {
    if (sealedContent === undefined) return callback(content);
    return withImportWorker(async (remote, failurePromise) => {
      const { identity, size, sha256 } = sealedContent;
      const openedContent = await Promise.race([
        remote.openContent(content, { identity, contentKind, size, sha256 }, signal === undefined ? {} : { signal }),
        failurePromise,
      ]);
      try {
        return await callback(openedContent);
      } finally {
        // the error of `callback` has priority; the private file is removed later
        await Promise.race([remote.dispose(), failurePromise]).catch(() => undefined);
      }
    });
  };
  return Object.freeze<VaultImports>({
    read: async (files, { signal, onProgress: _, ...settings }) => {
      throwIfCancelled(signal);
      const chosenFiles = files.map((file) => ({
        path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath,
        content: file,
      }));
      return withImportWorker((remote, failurePromise) =>
        raceAbort(signal, Promise.race([remote.read(chosenFiles, settings), failurePromise])),
      );
    },
    compare: async (items, options) =>
      (await compare(items, options)).map(({ source: _, version: __, ...comparison }) => comparison),
    store: async (items, opener, options) => {
      const presentedOpener = requirePresented(opener);
      const isSmall = ({ content, sealedContent }: ImportItem): boolean =>
        (sealedContent?.size ?? content.size) <= maxSmallContentBytes;
      const [smallItems, largeItems] = [items.filter(isSmall), items.filter((item) => !isSmall(item))];
      const getItemIndex = (item: ImportItem | undefined): number => items.findIndex((candidate) => candidate === item);
      const total = items.length;
      const signalOptions = options?.signal === undefined ? {} : { signal: options.signal };
      const reportProgress = (done: number): void => options?.onProgress?.({ phase: "sending", done, total });
      const onProgress: CallOptions["onProgress"] = (progress) => {
        if (progress.phase === "sending") reportProgress(progress.done);
        else options?.onProgress?.(progress);
      };
      const importResult = await importSecrets(smallItems, presentedOpener, {
        ...options,
        onProgress,
        hasLargeItems: largeItems.length > 0,
      });
      const failedFavoriteIndexes = (importResult.failedFavoriteIndexes ?? []).map((index) =>
        getItemIndex(smallItems[index]),
      );
      const failures = importResult.failures.map(({ index, code }) => ({
        index: getItemIndex(smallItems[index]),
        code,
      }));
      let { added, updated, unchanged, stopReason } = importResult;
      try {
        const comparisons =
          largeItems.length === 0 || stopReason !== null ? [] : await compare(largeItems, signalOptions);
        for (const [position, item] of largeItems.entries()) {
          const comparison = comparisons[position];
          if (comparison === undefined) break; // the import stopped before the large items
          throwIfCancelled(options?.signal);
          const { title, tags, contentKind, name, mime } = item;
          try {
            if (comparison.status === "same") unchanged += 1;
            else if (comparison.status === "new") {
              const { secretId } = await withContent(item, signalOptions, (content) =>
                uploads.protect(
                  {
                    title,
                    tags,
                    contentKind,
                    name,
                    mime,
                    content,
                    protection: { kind: "openers", openerIds: [] },
                    ...toSourceFields(comparison),
                  },
                  signalOptions,
                ),
              );
              added += 1;
              if (item.favorite === true && !(await trySetFavorite(setFavorite(secretId, true))))
                failedFavoriteIndexes.push(getItemIndex(item));
            } else {
              const { secretId, version } = comparison;
              await withContent(item, signalOptions, (content) =>
                uploads.update(
                  secretId,
                  {
                    baseVersion: version,
                    title,
                    tags,
                    content: { contentKind, name, mime, content },
                    ...toSourceFields(comparison),
                  },
                  signalOptions,
                ),
              );
              updated += 1;
            }
          } catch (error) {
            if (!isItemError(error)) throw error;
            failures.push({ index: getItemIndex(item), code: error.code });
          }
          reportProgress(smallItems.length + position + 1);
        }
      } catch (error) {
        if (added + updated + failures.length === 0) throw error;
        stopReason = toPortalError(error).code;
      }
      return { added, updated, unchanged, failures, ...toFailedFavoriteFields(failedFavoriteIndexes), stopReason };
    },
  });
}

function toSourceFields({ source }: ComparedItem): { readonly source?: string } {
  return source === null ? {} : { source };
}
