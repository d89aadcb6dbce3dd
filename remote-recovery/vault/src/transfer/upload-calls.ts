import {
  downloadPath,
  type FinishUpload,
  formOfPart,
  type PartFields,
  ReceivedPart,
  SecretStored,
  type SecretStored as Stored,
  sharedDownloadPath,
  uploadPath,
  UploadStarted,
  UploadState,
  type UploadState as State,
} from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { release, type Bytes } from "../seal/bytes.ts";

/**
 * Where a sealed content is: a version of one's own secret, or what a download token was given for
 * (a share, an answer to a request).
 */
export type ContentAt = { readonly secretId: string; readonly version: number } | { readonly token: string };

/** The calls of an upload in parts, and of the download. */
export interface TransferCalls {
  readonly start: (
    wanted: {
      readonly size: number;
      readonly partSize: number;
      readonly secretId: string;
      readonly baseVersion: number | null;
    },
    signal?: AbortSignal,
  ) => Promise<z.infer<typeof UploadStarted>>;
  /** `upload_dropped` when the service does not know it, here and in the next two. */
  readonly state: (uploadId: string, signal?: AbortSignal) => Promise<State>;
  readonly part: (uploadId: string, fields: PartFields, data: Blob, signal?: AbortSignal) => Promise<void>;
  /** `conflict` when another finishing call published it. */
  readonly finish: (uploadId: string, body: FinishUpload) => Promise<Stored>;
  /** Without effect when it is gone, or published. */
  readonly cancel: (uploadId: string) => Promise<void>;
  /**
   * Bytes from `start` to before `end` of a sealed content, less at its end, and how many there are
   * in all.
   */
  readonly range: (
    content: ContentAt,
    start: number,
    end: number,
    signal?: AbortSignal,
  ) => Promise<{ readonly bytes: Bytes; readonly size: number }>;
}

export function transferCallsOn(http: Http): TransferCalls {
  const bySignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    start: ({ size, partSize, secretId, baseVersion }, signal) => {
      const body = new FormData();
      body.set("size", String(size));
      body.set("part_size", String(partSize));
      body.set("secret_db_id", secretId);
      if (baseVersion !== null) body.set("base_version", String(baseVersion));
      return http.request("POST", "/v2/secrets/secret", UploadStarted, { body, ...bySignal(signal) });
    },
    state: (uploadId, signal) => sayDropped(http.request("GET", uploadPath(uploadId), UploadState, bySignal(signal))),
    part: async (uploadId, fields, data, signal) => {
      await sayDropped(
        http.request("POST", uploadPath(uploadId), ReceivedPart, {
          body: formOfPart(fields, data),
          ...bySignal(signal),
        }),
      );
    },
    finish: (uploadId, body) => sayDropped(http.request("PUT", uploadPath(uploadId), SecretStored, { body })),
    cancel: async (uploadId) => {
      try {
        await http.request("DELETE", uploadPath(uploadId), z.unknown());
      } catch (error) {
        if (!isPortalError(error, "not_found", "conflict")) throw error;
      }
    },
    range: async (content, start, end, signal) => {
      const isHanded = "token" in content;
      const {
        size,
        start: from,
        body,
      } = await http.stream("POST", isHanded ? sharedDownloadPath : downloadPath, {
        body: isHanded ? { token: content.token } : { secret_db_id: content.secretId, version: content.version },
        headers: { range: `bytes=${String(start)}-${String(end - 1)}` },
        ...bySignal(signal),
      });
      return { bytes: await between(start, end, body, from), size };
    },
  };
}

/**
 * `not_found` is said of what this device does not keep; what the service does not know may be
 * there again later.
 */
async function sayDropped<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw isPortalError(cause, "not_found") ? new PortalError("upload_dropped", { cause }) : cause;
  }
}

/**
 * Bytes `start` to `end` of a content whose bytes from `from` on come: a service that knows no
 * ranges gives the whole. Fewer where they end before.
 */
async function between(start: number, end: number, body: ReadableStream<Bytes>, from: number): Promise<Bytes> {
  const bytes = new Uint8Array(end - start);
  let filled = 0;
  let at = from;
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const piece = read.value;
    const wanted = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    bytes.set(wanted, filled);
    filled += wanted.length;
    at += piece.length;
    release(piece);
  }
  return bytes.subarray(0, filled);
}
