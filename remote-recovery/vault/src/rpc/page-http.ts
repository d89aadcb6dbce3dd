import type { HttpClient, HttpMethod, HttpRequestOptions } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { z } from "zod";

import { freeBuffers } from "../seal/bytes.ts";
import { throwIfCancelled } from "./throw-if-cancelled.ts";

/** A form as it crosses: a FormData itself cannot. */
type FormFields = readonly (readonly [name: string, value: string | File])[];

/** {@link HttpRequestOptions} as they cross to the page. */
type SerializedOptions = HttpRequestOptions & { readonly form?: FormFields };

/**
 * A binary answer as it crosses: whole, so ask for ranges of a size that memory can hold. Its
 * blocks are not joined in the page.
 */
interface SerializedBytes {
  readonly totalSize: number;
  readonly offset: number;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Calls to the service cross from a worker to the page, which holds the session token. Schemas do
 * not cross: answers arrive as they are and are parsed in the worker.
 */
export interface PageHttp {
  readonly request: (method: HttpMethod, path: string, options: SerializedOptions) => Promise<unknown>;
  readonly bytes: (method: HttpMethod, path: string, options: SerializedOptions) => Promise<SerializedBytes>;
}

/** The page's side. */
export function createPageHttp(http: HttpClient): PageHttp {
  const withForm = ({ form, ...options }: SerializedOptions): HttpRequestOptions =>
    form === undefined ? options : { ...options, body: toFormData(form) };
  return {
    request: (method, path, options) => http.request(method, path, z.unknown(), withForm(options)),
    bytes: async (method, path, options) => {
      const { totalSize, offset, body } = await http.stream(method, path, withForm(options));
      const blocks = await collectBlocks(body);
      return Comlink.transfer(
        { totalSize, offset, blocks },
        blocks.map(({ buffer }) => buffer),
      );
    },
  };
}

/** The worker's side: the contract's Http over the page. */
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
      const parsed = schema.safeParse(await callPage(options, (serialized) => page.request(method, path, serialized)));
      if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
      return parsed.data;
    },
    stream: async (method, path, options = {}) => {
      const { totalSize, offset, blocks } = await callPage(options, (serialized) =>
        page.bytes(method, path, serialized),
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

/** Bytes of a block. */
const blockBytes = 1024 * 1024;

/**
 * All bytes of a stream, in blocks. Read piece by piece, because a Response over it would report a
 * broken connection as a TypeError, which is not tried again. Each piece is copied and released as
 * it comes: copying all of them at the end blocks the page.
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
