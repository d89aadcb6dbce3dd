import type { HttpClient, HttpMethod, HttpRequestOptions } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { z } from "zod";

import { freeBuffers } from "../seal/bytes.ts";
import { throwIfCancelled } from "./throw-if-cancelled.ts";

/** Fields of a FormData, which cannot be sent to another thread. */
type FormFields = readonly (readonly [name: string, value: string | File])[];

/** {@link HttpRequestOptions} in the form that is sent to the page. */
type SerializedOptions = HttpRequestOptions & { readonly form?: FormFields };

/**
 * A whole binary response in blocks, which the page does not join. Request only ranges that fit
 * into memory.
 */
interface SerializedBytes {
  readonly totalSize: number;
  readonly offset: number;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * A worker's calls to the service. They go through the page, which has the session token. The
 * worker parses the responses.
 */
export interface PageHttp {
  readonly request: (method: HttpMethod, path: string, options: SerializedOptions) => Promise<unknown>;
  readonly bytes: (method: HttpMethod, path: string, options: SerializedOptions) => Promise<SerializedBytes>;
}

/** The page's side. */
export function createPageHttp(http: HttpClient): PageHttp {
  const toRequestOptions = ({ form, ...options }: SerializedOptions): HttpRequestOptions =>
    form === undefined ? options : { ...options, body: toFormData(form) };
  return {
    request: (method, path, options) => http.request(method, path, z.unknown(), toRequestOptions(options)),
    bytes: async (method, path, options) => {
      const { totalSize, offset, body } = await http.stream(method, path, toRequestOptions(options));
      const blocks = await collectBlocks(body);
      return Comlink.transfer(
        { totalSize, offset, blocks },
        blocks.map(({ buffer }) => buffer),
      );
    },
  };
}

/** The worker's side: an HTTP client that uses the page. */
export function createHttpOverPage(page: Comlink.Remote<PageHttp>): HttpClient {
  async function callPage<T>(
    { body, ...options }: HttpRequestOptions,
    call: (options: SerializedOptions) => Promise<T>,
  ): Promise<T> {
    throwIfCancelled(options.signal);
    try {
      return await call({
        ...options,
        ...(body === undefined ? {} : body instanceof FormData ? { form: [...body] } : { body }),
      });
    } catch (error) {
      throw toPortalError(error);
    }
  }

  return {
    request: async <T>(
      method: HttpMethod,
      path: string,
      schema: z.ZodType<T>,
      options: HttpRequestOptions = {},
    ): Promise<T> => {
      const parsed = schema.safeParse(
        await callPage(options, (serializedOptions) => page.request(method, path, serializedOptions)),
      );
      if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
      return parsed.data;
    },
    stream: async (method, path, options = {}) => {
      const { totalSize, offset, blocks } = await callPage(options, (serializedOptions) =>
        page.bytes(method, path, serializedOptions),
      );
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start: (controller) => {
          for (const block of blocks) controller.enqueue(block);
          controller.close();
        },
      });
      return { totalSize, offset, body };
    },
  };
}

function toFormData(fields: FormFields): FormData {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === "string") form.set(name, value);
    else form.set(name, value, value.name);
  }
  return form;
}

const blockBytes = 1024 * 1024;

/**
 * Reads a stream into blocks. A Response would report a lost connection as a TypeError, which is
 * not retried. Copies and releases each piece on arrival, because copying all of them at the end
 * would block the page.
 */
async function collectBlocks(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>[]> {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  let block = new Uint8Array(blockBytes);
  let filled = 0;
  const reader = body.getReader();
  for (let readResult = await reader.read(); !readResult.done; readResult = await reader.read()) {
    const piece = readResult.value;
    for (let offset = 0; offset < piece.length;) {
      if (filled === block.length) {
        blocks.push(block);
        block = new Uint8Array(blockBytes);
        filled = 0;
      }
      const copyLength = Math.min(block.length - filled, piece.length - offset);
      block.set(piece.subarray(offset, offset + copyLength), filled);
      filled += copyLength;
      offset += copyLength;
    }
    freeBuffers(piece);
  }
  return [...blocks, block.subarray(0, filled)];
}
