import type { Http, HttpMethod, HttpOptions } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { z } from "zod";

import { release } from "../seal/bytes.ts";
import { refuseCancelled } from "../cancelled.ts";

/** A form as it crosses: a FormData itself cannot. */
type FormFields = readonly (readonly [name: string, value: string | File])[];

/** {@link HttpOptions} as they cross to the page. */
export type CrossingOptions = HttpOptions & { readonly form?: FormFields };

/**
 * A binary answer as it crosses: whole, so ask for ranges of a size that memory can hold. Its
 * blocks are not joined in the page.
 */
interface CrossingBytes {
  readonly size: number;
  readonly start: number;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Calls to the service cross from a worker to the page, which holds the session token. Schemas do
 * not cross: answers arrive as they are and are parsed in the worker.
 */
export interface PageHttp {
  readonly request: (method: HttpMethod, path: string, options: CrossingOptions) => Promise<unknown>;
  readonly bytes: (method: HttpMethod, path: string, options: CrossingOptions) => Promise<CrossingBytes>;
}

/** The page's side. */
export function pageHttp(http: Http): PageHttp {
  const withForm = ({ form, ...options }: CrossingOptions): HttpOptions =>
    form === undefined ? options : { ...options, body: formOf(form) };
  return {
    request: (method, path, options) => http.request(method, path, z.unknown(), withForm(options)),
    bytes: async (method, path, options) => {
      const { size, start, body } = await http.stream(method, path, withForm(options));
      const blocks = await collected(body);
      return Comlink.transfer(
        { size, start, blocks },
        blocks.map(({ buffer }) => buffer),
      );
    },
  };
}

/** The worker's side: the contract's Http over the page. */
export function httpOverPage(page: Comlink.Remote<PageHttp>): Http {
  async function crossing<T>(
    { body, ...options }: HttpOptions,
    call: (options: CrossingOptions) => Promise<T>,
  ): Promise<T> {
    refuseCancelled(options.signal);
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
      answer: z.ZodType<T>,
      options: HttpOptions = {},
    ): Promise<T> => {
      const parsed = answer.safeParse(await crossing(options, (given) => page.request(method, path, given)));
      if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
      return parsed.data;
    },
    stream: async (method, path, options = {}) => {
      const { size, start, blocks } = await crossing(options, (given) => page.bytes(method, path, given));
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start: (controller) => {
          for (const block of blocks) controller.enqueue(block);
          controller.close();
        },
      });
      return { size, start, body };
    },
  };
}

function formOf(fields: FormFields): FormData {
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
async function collected(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>[]> {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  let block = new Uint8Array(blockBytes);
  let filled = 0;
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const piece = read.value;
    for (let at = 0; at < piece.length;) {
      if (filled === block.length) {
        blocks.push(block);
        block = new Uint8Array(blockBytes);
        filled = 0;
      }
      const taken = Math.min(block.length - filled, piece.length - at);
      block.set(piece.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
    }
    release(piece);
  }
  return [...blocks, block.subarray(0, filled)];
}
