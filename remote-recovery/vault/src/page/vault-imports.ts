import { maxSmallContentBytes } from "@relicario/shared/api";
import type { CallOptions, ImportItem, Vault, VaultImports } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { requirePresented } from "../rpc/presented-opener.ts";
import type { Transfers } from "./transfer-client.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { ComparedItem } from "../imports/compare-import.ts";
import type { ImportWorkerApi } from "../imports/import-worker-api.ts";
import { isItemError } from "../imports/item-errors.ts";
import { trySetFavorite, toFavoriteFailedFields } from "../imports/favorites.ts";

export interface ImportDeps {
  /** Operations of the vault's worker. */
  readonly compare: VaultWorkerApi["compareImport"];
  readonly importSecrets: VaultWorkerApi["importSecrets"];
  readonly setFavorite: Vault["setFavorite"];
  readonly startReader: () => Promise<RunningWorker<ImportWorkerApi>>;
  readonly transfers: Pick<Transfers, "protect" | "update">;
}

/**
 * The members of the contract about importing. Small items go through the vault's worker, a hundred
 * in a call; large ones as uploads.
 */
export function createVaultImports({
  compare,
  importSecrets,
  setFavorite,
  startReader,
  transfers,
}: ImportDeps): VaultImports {
  /** A worker for this alone. What it holds in clear goes with it. */
  const withImportWorker = async <T>(
    callback: (remote: Comlink.Remote<ImportWorkerApi>, workerFailure: Promise<never>) => Promise<T>,
  ): Promise<T> => {
    const reader = await startReader();
    const workerFailure = new Promise<never>((_, reject) => {
      void reader.failure.then(reject);
    });
    try {
      return await callback(reader.remote, workerFailure);
    } finally {
      reader.end();
    }
  };
  /** Opened, where it is sealed, for as long as it is used: a content may be larger than memory. */
  const withContent = async <T>(
    { content, contentKind, sealed }: ImportItem,
    { signal }: Pick<CallOptions, "signal">,
    callback: (content: Blob) => Promise<T>,
  ): Promise<T> => {
    if (sealed === undefined) return callback(content);
    return withImportWorker(async (remote, workerFailure) => {
      const { identity, size, sha256 } = sealed;
      const opened = await Promise.race([
        remote.openContent(content, { identity, contentKind, size, sha256 }, signal === undefined ? {} : { signal }),
        workerFailure,
      ]);
      try {
        return await callback(opened);
      } finally {
        // what failed first is told; a private file is swept with the next one
        await Promise.race([remote.dispose(), workerFailure]).catch(() => undefined);
      }
    });
  };
  return Object.freeze<VaultImports>({
    read: async (files, { signal, language, exitIdentity }) => {
      throwIfCancelled(signal);
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => {
          reject(new PortalError("cancelled", { cause: signal.reason }));
        });
      });
      const chosenFiles = files.map((file) => ({
        path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath,
        content: file,
      }));
      return withImportWorker((remote, workerFailure) =>
        Promise.race([
          remote.read(chosenFiles, { language, ...(exitIdentity === undefined ? {} : { exitIdentity }) }),
          workerFailure,
          aborted,
        ]),
      );
    },
    compare: async (items, options) =>
      (await compare(items, options)).map(({ source: _, version: __, ...comparison }) => comparison),
    store: async (items, opener, options) => {
      const presentedOpener = requirePresented(opener);
      const isSmall = ({ content, sealed }: ImportItem): boolean =>
        (sealed?.size ?? content.size) <= maxSmallContentBytes;
      const [small, large] = [items.filter(isSmall), items.filter((item) => !isSmall(item))];
      const getItemIndex = (item: ImportItem | undefined): number => items.findIndex((candidate) => candidate === item);
      const total = items.length;
      const quietOptions = options?.signal === undefined ? {} : { signal: options.signal };
      const reportProgress = (done: number): void => options?.onProgress?.({ phase: "sending", done, total });
      const onProgress: CallOptions["onProgress"] = (progress) => {
        if (progress.phase === "sending") reportProgress(progress.done);
        else options?.onProgress?.(progress);
      };
      const stored = await importSecrets(small, presentedOpener, {
        ...options,
        onProgress,
        hasLargeItems: large.length > 0,
      });
      const favoriteFailedIndexes = (stored.favoriteFailed ?? []).map((index) => getItemIndex(small[index]));
      const failures = stored.failures.map(({ index, code }) => ({ index: getItemIndex(small[index]), code }));
      let { added, updated, unchanged, stopReason } = stored;
      try {
        const comparisons = large.length === 0 || stopReason !== null ? [] : await compare(large, quietOptions);
        for (const [position, item] of large.entries()) {
          const comparison = comparisons[position];
          if (comparison === undefined) break; // it had stopped before
          throwIfCancelled(options?.signal);
          const { title, tags, contentKind, name, mime } = item;
          try {
            if (comparison.status === "same") unchanged += 1;
            else if (comparison.status === "new") {
              const { secretId } = await withContent(item, quietOptions, (content) =>
                transfers.protect(
                  {
                    title,
                    tags,
                    contentKind,
                    name,
                    mime,
                    content,
                    protection: { kind: "openers", openers: [] },
                    ...toSourceFields(comparison),
                  },
                  quietOptions,
                ),
              );
              added += 1;
              if (item.favorite === true && !(await trySetFavorite(setFavorite(secretId, true))))
                favoriteFailedIndexes.push(getItemIndex(item));
            } else {
              const { secretId, version } = comparison;
              await withContent(item, quietOptions, (content) =>
                transfers.update(
                  secretId,
                  {
                    baseVersion: version,
                    title,
                    tags,
                    content: { contentKind, name, mime, content },
                    ...toSourceFields(comparison),
                  },
                  quietOptions,
                ),
              );
              updated += 1;
            }
          } catch (error) {
            if (!isItemError(error)) throw error;
            failures.push({ index: getItemIndex(item), code: error.code });
          }
          reportProgress(small.length + position + 1);
        }
      } catch (error) {
        if (added + updated + failures.length === 0) throw error;
        stopReason = toPortalError(error).code;
      }
      return { added, updated, unchanged, failures, ...toFavoriteFailedFields(favoriteFailedIndexes), stopReason };
    },
  });
}

function toSourceFields({ source }: ComparedItem): { readonly source?: string } {
  return source === null ? {} : { source };
}
