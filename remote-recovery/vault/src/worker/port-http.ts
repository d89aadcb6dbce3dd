import type { Http, HttpMethod, HttpOptions } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";
import { z } from "zod";

import { release } from "../seal/bytes.ts";

/** A form as it crosses: a FormData itself cannot. */
type FormFields = readonly (readonly [name: string, value: string | File])[];

/** What of {@link HttpOptions} crosses to the page. */
export type CrossingOptions = Pick<HttpOptions, "body" | "query" | "headers"> & { readonly form?: FormFields };

/** A binary answer as it crosses: whole, so ask for ranges of a size that memory can hold. Its blocks are not joined in the page. */
interface CrossingBytes {
  readonly size: number;
  readonly start: number;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Calls to the service cross from the vault's worker to the page, which holds the session token. Schemas and signals do
 * not cross: answers arrive as they are and are parsed in the worker, a call is cancelled by its id.
 */
export interface PageHttp {
  readonly request: (id: string, method: HttpMethod, path: string, options: CrossingOptions) => Promise<unknown>;
  readonly bytes: (id: string, method: HttpMethod, path: string, options: CrossingOptions) => Promise<CrossingBytes>;
  /** Without effect when the call is over. */
  readonly cancel: (id: string) => void;
}

/** The page's side. */
export function servePageHttp(http: Http): PageHttp {
  const running = new Map<string, AbortController>();

  async function cancellable<T>(id: string, { form, ...options }: CrossingOptions, call: (options: HttpOptions) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      return await call({ ...options, ...(form === undefined ? {} : { body: formOf(form) }), signal: controller.signal });
    } finally {
      running.delete(id);
    }
  }

  return {
    request: (id, method, path, options) => cancellable(id, options, (all) => http.request(method, path, z.unknown(), all)),
    bytes: (id, method, path, options) =>
      cancellable(id, options, async (all) => {
        const { size, start, body } = await http.stream(method, path, all);
        const blocks = await collected(body);
        return Comlink.transfer(
          { size, start, blocks },
          blocks.map(({ buffer }) => buffer),
        );
      }),
    cancel: (id) => {
      running.get(id)?.abort();
    },
  };
}

/** The worker's side: the contract's Http over the page. */
export function httpOverPage(page: Comlink.Remote<PageHttp> | PageHttp): Http {
  async function crossing<T>({ signal, body, query, headers }: HttpOptions, call: (id: string, options: CrossingOptions) => Promise<T>): Promise<T> {
    if (signal?.aborted === true) throw new PortalError("cancelled", { cause: signal.reason });
    const id = crypto.randomUUID();
    const cancel = (): void => void page.cancel(id);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await call(id, {
        ...(body === undefined ? {} : body instanceof FormData ? { form: [...body] } : { body }),
        ...(query === undefined ? {} : { query }),
        ...(headers === undefined ? {} : { headers }),
      });
    } catch (error) {
      throw toPortalError(error);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  return {
    request: async <T>(method: HttpMethod, path: string, answer: z.ZodType<T>, options: HttpOptions = {}): Promise<T> => {
      const parsed = answer.safeParse(await crossing(options, (id, given): Promise<unknown> => page.request(id, method, path, given)));
      if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
      return parsed.data;
    },
    stream: async (method, path, options = {}) => {
      const { size, start, blocks } = await crossing(options, (id, given) => page.bytes(id, method, path, given));
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

/** What is put together at a time. */
const blockBytes = 1024 * 1024;

/**
 * All bytes of a stream, in blocks. Read piece by piece: a Response over it would tell a connection that broke as a
 * TypeError, which nobody tries again. Each piece is copied and given back as it comes: all of them at the end are a long task.
 */
async function collected(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>[]> {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  let block = new Uint8Array(blockBytes);
  let filled = 0;
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const piece = read.value;
    for (let at = 0; at < piece.length; ) {
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
