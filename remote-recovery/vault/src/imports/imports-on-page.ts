import { maxSmallContentBytes } from "@relicario/shared/api";
import type { CallOptions, ImportItem, VaultImports } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";

import { refuseCancelled } from "../cancelled.ts";
import { requireShown } from "../shown-image.ts";
import type { Transfers } from "../transfer/transfer-client.ts";
import type { RunningWorker } from "../worker/start-workers.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { ComparedItem } from "./compare.ts";
import type { ImportWorkerApi } from "./import-worker-api.ts";
import { isOfOneItem } from "./item-errors.ts";
import { isStarred, saidOf } from "./starred.ts";

export interface ImportParts {
  readonly inWorker: <Given extends readonly unknown[], Answer>(
    act: (worker: Comlink.Remote<VaultWorkerApi>) => (...given: Given) => Promise<Answer>,
  ) => (...given: Given) => Promise<Answer>;
  readonly startReader: () => Promise<RunningWorker<ImportWorkerApi>>;
  readonly transfers: Pick<Transfers, "protect" | "update">;
}

/**
 * The members of the contract about importing. Small items go through the vault's worker, a hundred
 * in a call; large ones as uploads.
 */
export function importsOnPage({ inWorker, startReader, transfers }: ImportParts): VaultImports {
  const compare = inWorker((worker) => worker.compareImport);
  const star = inWorker((worker) => worker.setFavorite);
  const importSecrets = inWorker((worker) => worker.importSecrets);
  /** A worker for this alone. What it holds in clear goes with it. */
  const withReader = async <T>(
    work: (remote: Comlink.Remote<ImportWorkerApi>, gone: Promise<never>) => Promise<T>,
  ): Promise<T> => {
    const reader = await startReader();
    const gone = new Promise<never>((_, reject) => {
      void reader.failed.then(reject);
    });
    try {
      return await work(reader.remote, gone);
    } finally {
      reader.end();
    }
  };
  /** Opened, where it is sealed, for as long as it is used: a content may be larger than memory. */
  const withContent = async <T>(
    { content, contentKind, sealed }: ImportItem,
    { signal }: Pick<CallOptions, "signal">,
    use: (content: Blob) => Promise<T>,
  ): Promise<T> => {
    if (sealed === undefined) return use(content);
    return withReader(async (remote, gone) => {
      const { identity, size, sha256 } = sealed;
      const opened = await Promise.race([
        remote.open(content, { identity, contentKind, size, sha256 }, signal === undefined ? {} : { signal }),
        gone,
      ]);
      try {
        return await use(opened);
      } finally {
        // what failed first is told; a private file is swept with the next one
        await Promise.race([remote.putAway(), gone]).catch(() => undefined);
      }
    });
  };
  return Object.freeze<VaultImports>({
    read: async (files, { signal, language, exitIdentity }) => {
      refuseCancelled(signal);
      const stop = new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => {
          reject(new PortalError("cancelled", { cause: signal.reason }));
        });
      });
      const given = files.map((file) => ({
        path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath,
        content: file,
      }));
      return withReader((remote, gone) =>
        Promise.race([
          remote.read(given, { language, ...(exitIdentity === undefined ? {} : { exitIdentity }) }),
          gone,
          stop,
        ]),
      );
    },
    compare: async (items, options) =>
      (await compare(items, options)).map(({ source: _, version: __, ...standing }) => standing),
    store: async (items, opener, options) => {
      const shown = requireShown(opener);
      const isSmall = ({ content, sealed }: ImportItem): boolean =>
        (sealed?.size ?? content.size) <= maxSmallContentBytes;
      const [small, large] = [items.filter(isSmall), items.filter((item) => !isSmall(item))];
      const indexOf = (item: ImportItem | undefined): number => items.findIndex((one) => one === item);
      const total = items.length;
      const quiet = options?.signal === undefined ? {} : { signal: options.signal };
      const tell = (done: number): void => options?.onProgress?.({ phase: "sending", done, total });
      const onProgress: CallOptions["onProgress"] = (progress) => {
        if (progress.phase === "sending") tell(progress.done);
        else options?.onProgress?.(progress);
      };
      const stored = await importSecrets(small, shown, { ...options, onProgress, largeFollow: large.length > 0 });
      const unstarred = (stored.unstarred ?? []).map((index) => indexOf(small[index]));
      const failed = stored.failed.map(({ index, code }) => ({ index: indexOf(small[index]), code }));
      let { added, updated, same, stopped } = stored;
      try {
        const standings = large.length === 0 || stopped !== null ? [] : await compare(large, quiet);
        for (const [at, item] of large.entries()) {
          const standing = standings[at];
          if (standing === undefined) break; // it had stopped before
          refuseCancelled(options?.signal);
          const { title, tags, contentKind, name, mime } = item;
          try {
            if (standing.standing === "same") same += 1;
            else if (standing.standing === "new") {
              const { secretId } = await withContent(item, quiet, (content) =>
                transfers.protect(
                  {
                    title,
                    tags,
                    contentKind,
                    name,
                    mime,
                    content,
                    protection: { kind: "openers", openers: [] },
                    ...sourceOf(standing),
                  },
                  quiet,
                ),
              );
              added += 1;
              if (item.favorite === true && !(await isStarred(star(secretId, true)))) unstarred.push(indexOf(item));
            } else {
              const { secretId, version } = standing;
              await withContent(item, quiet, (content) =>
                transfers.update(
                  secretId,
                  {
                    baseVersion: version,
                    title,
                    tags,
                    content: { contentKind, name, mime, content },
                    ...sourceOf(standing),
                  },
                  quiet,
                ),
              );
              updated += 1;
            }
          } catch (error) {
            if (!isOfOneItem(error)) throw error;
            failed.push({ index: indexOf(item), code: error.code });
          }
          tell(small.length + at + 1);
        }
      } catch (error) {
        if (added + updated + failed.length === 0) throw error;
        stopped = toPortalError(error).code;
      }
      return { added, updated, same, failed, ...saidOf(unstarred), stopped };
    },
  });
}

function sourceOf({ source }: ComparedItem): { readonly source?: string } {
  return source === null ? {} : { source };
}
