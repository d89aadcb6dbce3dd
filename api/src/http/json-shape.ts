import { Transform, type TransformCallback } from "node:stream";

import type { FastifyInstance, FastifyRequest } from "fastify";

import { Problem } from "./problem.ts";

/**
 * Levels of arrays and objects: the deepest call, a batch of secrets with a keyring change, has
 * six.
 */
export const maxJsonDepth = 16;
/** A keyring change that removes as much as it may has a hundred thousand. */
export const maxJsonValues = 150_000;

const smallBodyBytes = 16 * 1024;

const jsonMediaType = /^application\/json\b/i;

/**
 * JSON bodies of a reasonable shape are parsed as Fastify does; the others are refused at the first
 * byte that is too much, and what is left of them is dropped as it comes. A body of three megabytes
 * of brackets takes a second to parse, and the stack of whoever looks at it.
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
 * Whether its length was announced and is small: then it is looked at whole, which costs less than
 * a stream.
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
 * Looks at brackets and commas outside of strings, once. Whether it is JSON at all is the parser's
 * affair. Bytes of UTF-8 above 0x7f are none of these.
 */
class JsonShapeChecker {
  #depth = 0;
  #valueCount = 0;
  #inString = false;
  /** Whether the next byte of a string is escaped. */
  #escaped = false;

  /** What is wrong with the body so far, the next piece included. */
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

  /** Where the string ends that goes on at `start`: at a quote, or behind the piece. */
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

/** Backslashes without a gap between `start` and `end`, counted from the end. */
function countBackslashesBefore(chunk: Buffer, start: number, end: number): number {
  let count = 0;
  while (end - 1 - count >= start && chunk[end - 1 - count] === backslash) count++;
  return count;
}
