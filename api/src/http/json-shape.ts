import { Transform, type TransformCallback } from "node:stream";

import type { FastifyInstance, FastifyRequest } from "fastify";

import { Problem } from "./problem.ts";

/**
 * Nesting of arrays and objects. The deepest call, a batch of secrets with a keyring change, has
 * six levels.
 */
export const maxJsonDepth = 16;
/** The largest keyring change, one that purges the most secrets, has a hundred thousand values. */
export const maxJsonValues = 150_000;

const smallBodyBytes = 16 * 1024;

const jsonMediaType = /^application\/json\b/i;

/**
 * Rejects JSON bodies that are nested too deeply or have too many values, at the first byte beyond
 * the limit; the rest of the body is discarded. Three megabytes of brackets would take a second to
 * parse and overflow the stack of recursive code.
 */
export function limitJsonShape(app: FastifyInstance): void {
  app.addHook("preParsing", (request, _reply, payload, done) => {
    if (!jsonMediaType.test(request.headers["content-type"] ?? "") || isSmallBody(request)) {
      done(null, payload);
      return;
    }
    const checkedStream = new ShapeCheckStream();
    payload.once("error", (error) => checkedStream.destroy(error));
    done(null, payload.pipe(checkedStream));
  });
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const reason = isSmallBody(request) ? new JsonShapeChecker().findViolation(body) : null;
    if (reason === null) void parseJson(request, body.toString(), done);
    else done(createShapeProblem(reason));
  });
}

/**
 * Whether the declared length is so small that checking the body in one piece is cheaper than as a
 * stream.
 */
function isSmallBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? NaN) <= smallBodyBytes;
}

function createShapeProblem(reason: string): Problem {
  return new Problem("validation_error", { members: { errors: [{ path: "", reason }] } });
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

class ShapeCheckStream extends Transform {
  readonly #checker = new JsonShapeChecker();

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const reason = this.#checker.findViolation(chunk);
    if (reason === null) done(null, chunk);
    else done(createShapeProblem(reason));
  }
}

/**
 * Counts brackets and commas outside strings in one pass. Does not validate JSON: the parser does.
 * Bytes above 0x7f are part of UTF-8 characters, never one of those.
 */
class JsonShapeChecker {
  #depth = 0;
  #valueCount = 0;
  #inString = false;
  /** Whether the next byte of a string is escaped. */
  #escaped = false;

  /** Checks the next chunk. @returns the violation of the body so far */
  findViolation(chunk: Buffer): "too_deep" | "too_many_values" | null {
    for (let index = 0; index < chunk.length; index++) {
      if (this.#inString) index = this.#findStringEnd(chunk, index);
      const byte = chunk[index];
      if (byte === quote) this.#inString = !this.#inString;
      else if (byte === openBracket || byte === openBrace) {
        this.#valueCount++;
        if (++this.#depth > maxJsonDepth) return "too_deep";
      } else if (byte === closeBracket || byte === closeBrace) this.#depth--;
      else if (byte === comma) this.#valueCount++;
      if (this.#valueCount > maxJsonValues) return "too_many_values";
    }
    return null;
  }

  /** @returns the index of the quote that ends the string at `start`, or the chunk's length */
  #findStringEnd(chunk: Buffer, start: number): number {
    let position = start;
    if (this.#escaped) {
      this.#escaped = false;
      position++;
    }
    for (let end = chunk.indexOf(quote, position); end !== -1; end = chunk.indexOf(quote, end + 1))
      if (countBackslashesBefore(chunk, position, end) % 2 === 0) return end;
    this.#escaped = countBackslashesBefore(chunk, position, chunk.length) % 2 === 1;
    return chunk.length;
  }
}

/** Counts consecutive backslashes directly before `end`, not before `start`. */
function countBackslashesBefore(chunk: Buffer, start: number, end: number): number {
  let count = 0;
  while (end - 1 - count >= start && chunk[end - 1 - count] === backslash) count++;
  return count;
}
