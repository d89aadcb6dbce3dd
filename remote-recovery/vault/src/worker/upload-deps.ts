import type { UploadDeps } from "../operations/resumable-uploads.ts";
import { browserRetryPolicy } from "../transfer/retry-until-success.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import { openUploadRecords, buildUploadLockName } from "../transfer/upload-records.ts";

/** @param account storage key of the account's device record */
export function createUploadDeps(account: string, calls: TransferCalls): UploadDeps {
  return {
    records: createLazyRecords(account),
    calls,
    getRunningIds: findRunningUploads,
    retryPolicy: browserRetryPolicy,
  };
}

/** Opens the records on first use, because most people have no uploads. */
function createLazyRecords(account: string): UploadDeps["records"] {
  let recordsPromise: ReturnType<typeof openUploadRecords> | null = null;
  const openRecords = () => (recordsPromise ??= openUploadRecords(account));
  return {
    list: async () => (await openRecords()).list(),
    get: async (uploadId) => (await openRecords()).get(uploadId),
    add: async (record) => (await openRecords()).add(record),
    replace: async (record) => (await openRecords()).replace(record),
    remove: async (uploadId) => (await openRecords()).remove(uploadId),
    close: () =>
      void recordsPromise?.then((records) => {
        records.close();
      }),
  };
}

/** Returns the uploads that any tab of this browser is sending, by the tabs' locks. */
async function findRunningUploads(): Promise<ReadonlySet<string>> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return new Set();
  const { held = [] } = await navigator.locks.query();
  const prefix = buildUploadLockName("");
  return new Set(held.flatMap(({ name }) => (name?.startsWith(prefix) === true ? [name.slice(prefix.length)] : [])));
}
