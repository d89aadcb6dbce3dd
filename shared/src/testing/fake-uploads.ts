import { uploadExpiryHours } from "../api/index.ts";
import type { CallOptions, Vault, PendingUpload } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { throwIfCancelled, throwIfInvalid, type FakeAccount } from "./fake-account.ts";
import type { RecordCall } from "./fake-call.ts";
import { readBlobText } from "./fake-picture-field.tsx";

/**
 * An upload that an earlier page left. Resuming it with a file that has the text `content`
 * publishes it.
 */
export interface FakeUpload {
  readonly title: string;
  readonly content: string;
  readonly name?: string;
  readonly sentBytes?: number;
  readonly state?: PendingUpload["state"];
  /** RFC 3339; by default a day from now. */
  readonly expiresAt?: string;
  readonly needsFile?: boolean;
}

export interface FakeUploadsSettings {
  readonly uploads?: readonly FakeUpload[];
}

export interface FakeUploads extends Pick<Vault, "listUploads" | "resumeUpload" | "restartUpload" | "discardUpload"> {
  /**
   * Pictures that were passed to {@link Vault.resumeUpload} as protection, in order, even by failed
   * calls.
   */
  readonly resumedPictures: readonly {
    readonly name: string;
    readonly picture: string;
    readonly passphrase: string | null;
  }[];
}

interface InMemoryUpload extends PendingUpload {
  readonly content: string;
}

/**
 * Creates the uploads of the fake vault, in memory. They are sent at once, and published when the
 * vault is unlocked.
 */
export function createFakeUploads(
  { uploads: initialUploads = [] }: FakeUploadsSettings,
  account: FakeAccount,
  recordCall: RecordCall,
): FakeUploads {
  const uploads = new Map<string, InMemoryUpload>();
  const resumedPictures: FakeUploads["resumedPictures"][number][] = [];
  for (const {
    title,
    content,
    name = "film.mp4",
    sentBytes = 0,
    state = "waiting",
    expiresAt = new Date(Date.now() + uploadExpiryHours * 3_600_000).toISOString(),
    needsFile = true,
  } of initialUploads) {
    const uploadId = account.nextId();
    uploads.set(uploadId, {
      uploadId,
      secretId: account.nextId(),
      version: 1,
      title,
      name,
      content,
      size: new TextEncoder().encode(content).length,
      sentBytes,
      startedAt: account.nextTime(),
      expiresAt,
      state,
      needsFile,
    });
  }

  function requireUpload(uploadId: string): InMemoryUpload {
    const upload = uploads.get(uploadId);
    if (upload === undefined) throw new PortalError("not_found");
    return upload;
  }

  function waitForUnlock(options: CallOptions | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const checkState = (): void => {
        if (account.getState().status === "locked" && options?.signal?.aborted !== true) return;
        account.listeners.delete(checkState);
        options?.signal?.removeEventListener("abort", checkState);
        if (options?.signal?.aborted === true) reject(new PortalError("cancelled"));
        else resolve();
      };
      account.listeners.add(checkState);
      options?.signal?.addEventListener("abort", checkState);
      checkState();
    });
  }

  /** Marks an upload as sent. Publishes it only if the vault is unlocked. */
  async function publish(upload: InMemoryUpload, options: CallOptions | undefined): Promise<void> {
    uploads.set(upload.uploadId, { ...upload, sentBytes: upload.size, state: "sealed", needsFile: false });
    options?.onProgress?.({ phase: "sending", done: upload.size, total: upload.size });
    throwIfCancelled(options);
    await waitForUnlock(options);
  }

  function storeUpload(
    { uploadId, title, name, content }: InMemoryUpload,
    secretId?: string,
  ): { readonly secretId: string; readonly version: number } {
    uploads.delete(uploadId);
    if (account.getState().status === "empty") account.unlock();
    return {
      secretId: account.addSecret(
        { title: title ?? "", content, contentKind: "file", name: name ?? "", large: true },
        undefined,
        secretId,
      ),
      version: 1,
    };
  }

  return {
    resumedPictures,
    listUploads: async () => {
      recordCall("listUploads");
      const isLocked = account.getState().status !== "unlocked";
      return Promise.resolve(
        [...uploads.values()].map(({ content: _, ...upload }) =>
          isLocked ? { ...upload, title: null, name: null } : upload,
        ),
      );
    },
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) => {
      if (protection?.kind === "picture") {
        const { picture, passphrase } = account.resolvePicture(protection.picture);
        resumedPictures.push({ name: protection.name, picture: await readBlobText(picture), passphrase });
      }
      recordCall("resumeUpload", options);
      const upload = requireUpload(uploadId);
      throwIfInvalid({ content: upload.needsFile && file === null });
      if (upload.needsFile && file !== null && (await readBlobText(file)) !== upload.content)
        throw new PortalError("file_changed");
      if (upload.state === "sealed" && account.getState().status === "locked") throw new PortalError("vault_locked");
      await publish(upload, options);
      if (protection !== undefined) await account.resolveProtection(protection);
      else if (account.openers.length === 0) throw new PortalError("opener_needed");
      return storeUpload(upload, upload.secretId);
    },
    restartUpload: async (uploadId, file, options) => {
      recordCall("restartUpload", options);
      const upload = { ...requireUpload(uploadId), content: await readBlobText(file) };
      await publish(upload, options);
      return storeUpload(upload);
    },
    discardUpload: async (uploadId) => {
      recordCall("discardUpload");
      uploads.delete(uploadId);
      return Promise.resolve();
    },
  };
}
