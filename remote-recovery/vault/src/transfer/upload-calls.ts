import {
  downloadPath,
  type FinishUploadBody,
  buildPartForm,
  type PartFields,
  ReceivedPart,
  StoreSecretResponse,
  type StoreSecretResponse as StoredSecretResponse,
  sharedDownloadPath,
  uploadPath,
  StartUploadResponse,
  UploadState,
  type UploadState as UploadStateResponse,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { freeBuffers, type Bytes } from "../seal/bytes.ts";

/**
 * A version of a secret of this account, or the content that a download token gives access to (a
 * share, an answer to a request).
 */
export type ContentLocation = { readonly secretId: string; readonly version: number } | { readonly token: string };

export interface TransferCalls {
  readonly start: (
    upload: {
      readonly size: number;
      readonly partSize: number;
      readonly secretId: string;
      readonly baseVersion: number | null;
    },
    signal?: AbortSignal,
  ) => Promise<z.infer<typeof StartUploadResponse>>;
  /** Throws `upload_dropped` if the service does not know the upload, like the next two calls. */
  readonly state: (uploadId: string, signal?: AbortSignal) => Promise<UploadStateResponse>;
  readonly part: (uploadId: string, fields: PartFields, data: Blob, signal?: AbortSignal) => Promise<void>;
  /** Throws `conflict` if another `finish` call published the upload. */
  readonly finish: (uploadId: string, body: FinishUploadBody) => Promise<StoredSecretResponse>;
  /** Has no effect on a dropped or published upload. */
  readonly cancel: (uploadId: string) => Promise<void>;
  /**
   * Fetches bytes from `start` to before `end` of a sealed content, fewer at its end. `size` is the
   * length of the whole content.
   */
  readonly range: (
    content: ContentLocation,
    start: number,
    end: number,
    signal?: AbortSignal,
  ) => Promise<{ readonly bytes: Bytes; readonly size: number }>;
}

export function createTransferCalls(http: HttpClient): TransferCalls {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    start: ({ size, partSize, secretId, baseVersion }, signal) => {
      const body = new FormData();
      body.set("size", String(size));
      body.set("part_size", String(partSize));
      body.set("secret_db_id", secretId);
      if (baseVersion !== null) body.set("base_version", String(baseVersion));
      return http.request("POST", "/v2/secrets/secret", StartUploadResponse, { body, ...signalOption(signal) });
    },
    state: (uploadId, signal) =>
      mapToUploadDropped(http.request("GET", uploadPath(uploadId), UploadState, signalOption(signal))),
    part: async (uploadId, fields, data, signal) => {
      await mapToUploadDropped(
        http.request("POST", uploadPath(uploadId), ReceivedPart, {
          body: buildPartForm(fields, data),
          ...signalOption(signal),
        }),
      );
    },
    finish: (uploadId, body) =>
      mapToUploadDropped(http.request("PUT", uploadPath(uploadId), StoreSecretResponse, { body })),
    cancel: async (uploadId) => {
      try {
        await http.request("DELETE", uploadPath(uploadId), z.unknown());
      } catch (error) {
        if (!isPortalError(error, "not_found", "conflict")) throw error;
      }
    },
    range: async (content, start, end, signal) => {
      const hasToken = "token" in content;
      const {
        totalSize,
        offset: bodyStart,
        body,
      } = await http.stream("POST", hasToken ? sharedDownloadPath : downloadPath, {
        body: hasToken ? { token: content.token } : { secret_db_id: content.secretId, version: content.version },
        headers: { range: `bytes=${String(start)}-${String(end - 1)}` },
        ...signalOption(signal),
      });
      return { bytes: await readRange(start, end, body, bodyStart), size: totalSize };
    },
  };
}

/**
 * Replaces `not_found`, which here means that the device has no record; a dropped upload has one.
 */
async function mapToUploadDropped<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw isPortalError(cause, "not_found") ? new PortalError("upload_dropped", { cause }) : cause;
  }
}

/**
 * Reads bytes `start` to `end` of a content from a body that begins at `bodyStart`, because a
 * service without range support sends everything. Returns fewer bytes if the body ends earlier.
 */
async function readRange(start: number, end: number, body: ReadableStream<Bytes>, bodyStart: number): Promise<Bytes> {
  const bytes = new Uint8Array(end - start);
  let filled = 0;
  let position = bodyStart;
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const piece = read.value;
    const selected = piece.subarray(Math.max(0, start - position), Math.max(0, end - position));
    bytes.set(selected, filled);
    filled += selected.length;
    position += piece.length;
    freeBuffers(piece);
  }
  return bytes.subarray(0, filled);
}
