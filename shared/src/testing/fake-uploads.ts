import { uploadHours } from "../api/index.ts";
import type { CallOptions, Vault, WaitingUpload } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { refuseCancelled, refuseFields, type FakeAccount } from "./fake-account.ts";
import type { Enter } from "./fake-call.ts";
import { textOf } from "./fake-picture-field.tsx";

/**
 * An upload that an earlier page left. Resumed with a file of the text `content`, it is published.
 */
export interface FakeUpload {
  readonly title: string;
  readonly content: string;
  readonly name?: string;
  readonly sent?: number;
  readonly state?: WaitingUpload["state"];
  /** RFC 3339; a day from now unless told otherwise. */
  readonly expiresAt?: string;
  readonly needsFile?: boolean;
}

export interface FakeUploadsSettings {
  readonly uploads?: readonly FakeUpload[];
}

export interface FakeUploads extends Pick<Vault, "uploads" | "resumeUpload" | "restartUpload" | "discardUpload"> {
  /**
   * Pictures that {@link Vault.resumeUpload} was given to protect with, in order, whether it failed
   * or not.
   */
  readonly resumedWith: readonly {
    readonly name: string;
    readonly picture: string;
    readonly passphrase: string | null;
  }[];
}

interface KeptUpload extends WaitingUpload {
  readonly content: string;
}

/** Uploads of the fake vault, in memory: they are sent at once, and wait for unlocking. */
export function createFakeUploads(
  { uploads: left = [] }: FakeUploadsSettings,
  account: FakeAccount,
  enter: Enter,
): FakeUploads {
  const uploads = new Map<string, KeptUpload>();
  const resumedWith: FakeUploads["resumedWith"][number][] = [];
  for (const {
    title,
    content,
    name = "film.mp4",
    sent = 0,
    state = "waiting",
    expiresAt = new Date(Date.now() + uploadHours * 3_600_000).toISOString(),
    needsFile = true,
  } of left) {
    const uploadId = account.nextId();
    uploads.set(uploadId, {
      uploadId,
      secretId: account.nextId(),
      version: 1,
      title,
      name,
      content,
      size: new TextEncoder().encode(content).length,
      sent,
      startedAt: account.nextTime(),
      expiresAt,
      state,
      needsFile,
    });
  }

  function requireUpload(uploadId: string): KeptUpload {
    const upload = uploads.get(uploadId);
    if (upload === undefined) throw new PortalError("not_found");
    return upload;
  }

  function unlocked(options: CallOptions | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        if (account.getState().status === "locked" && options?.signal?.aborted !== true) return;
        account.listeners.delete(settle);
        options?.signal?.removeEventListener("abort", settle);
        if (options?.signal?.aborted === true) reject(new PortalError("cancelled"));
        else resolve();
      };
      account.listeners.add(settle);
      options?.signal?.addEventListener("abort", settle);
      settle();
    });
  }

  /** Sends it, and publishes it once the vault is unlocked. */
  async function publish(upload: KeptUpload, options: CallOptions | undefined): Promise<void> {
    uploads.set(upload.uploadId, { ...upload, sent: upload.size, state: "sealed", needsFile: false });
    options?.onProgress?.({ phase: "sending", done: upload.size, total: upload.size });
    refuseCancelled(options);
    await unlocked(options);
  }

  function add(
    { uploadId, title, name, content }: KeptUpload,
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
    resumedWith,
    uploads: async () => {
      enter("uploads");
      const isLocked = account.getState().status !== "unlocked";
      return Promise.resolve(
        [...uploads.values()].map(({ content: _, ...upload }) =>
          isLocked ? { ...upload, title: null, name: null } : upload,
        ),
      );
    },
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) => {
      if (protection?.kind === "picture") {
        const { picture, passphrase } = account.resolvePicture(protection.shown);
        resumedWith.push({ name: protection.name, picture: await textOf(picture), passphrase });
      }
      enter("resumeUpload", options);
      const upload = requireUpload(uploadId);
      refuseFields({ content: upload.needsFile && file === null });
      if (upload.needsFile && file !== null && (await textOf(file)) !== upload.content)
        throw new PortalError("file_changed");
      if (upload.state === "sealed" && account.getState().status === "locked") throw new PortalError("vault_locked");
      await publish(upload, options);
      if (protection !== undefined) await account.choose(protection);
      else if (account.openers.length === 0) throw new PortalError("opener_needed");
      return add(upload, upload.secretId);
    },
    restartUpload: async (uploadId, file, options) => {
      enter("restartUpload", options);
      const upload = { ...requireUpload(uploadId), content: await textOf(file) };
      await publish(upload, options);
      return add(upload);
    },
    discardUpload: async (uploadId) => {
      enter("discardUpload");
      uploads.delete(uploadId);
      return Promise.resolve();
    },
  };
}
