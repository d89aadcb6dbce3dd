import type { UploadDeps } from "../operations/resumable-uploads.ts";
import { browserRetryPolicy } from "../transfer/retry-until-success.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import { openUploadRecords, uploadLockName } from "../transfer/upload-records.ts";

/** @param account the name of its device */
export function createUploadDeps(account: string, calls: TransferCalls): UploadDeps {
  return {
    records: createLazyRecords(account),
    calls,
    getRunningIds: findRunningUploads,
    retryPolicy: browserRetryPolicy,
  };
}

/** Opened at the first upload: most people have none. */
function createLazyRecords(account: string): UploadDeps["records"] {
  let opening: ReturnType<typeof openUploadRecords> | null = null;
  const openRecords = () => (opening ??= openUploadRecords(account));
  return {
    list: async () => (await openRecords()).list(),
    get: async (uploadId) => (await openRecords()).get(uploadId),
    add: async (record) => (await openRecords()).add(record),
    replace: async (record) => (await openRecords()).replace(record),
    remove: async (uploadId) => (await openRecords()).remove(uploadId),
    close: () =>
      void opening?.then((records) => {
        records.close();
      }),
  };
}

/** What some tab of this browser is sending now, by the locks that they hold. */
async function findRunningUploads(): Promise<ReadonlySet<string>> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return new Set();
  const { held = [] } = await navigator.locks.query();
  const prefix = uploadLockName("");
  return new Set(held.flatMap(({ name }) => (name?.startsWith(prefix) === true ? [name.slice(prefix.length)] : [])));
}
