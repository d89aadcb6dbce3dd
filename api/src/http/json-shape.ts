import { Transform, type TransformCallback } from "node:stream";

import type { FastifyInstance, FastifyRequest } from "fastify";

import { Problem } from "./problem.ts";

/**
 * Levels of arrays and objects: the deepest call, a batch of secrets with a keyring change, has
 * six.
 */
export const maxDepth = 16;
/** A keyring change that removes as much as it may has a hundred thousand. */
export const maxValues = 150_000;

const smallBytes = 16 * 1024;

const jsonType = /^application\/json\b/i;

/**
 * JSON bodies of a reasonable shape are parsed as Fastify does; the others are refused at the first
 * byte that is too much, and what is left of them is dropped as it comes. A body of three megabytes
 * of brackets takes a second to parse, and the stack of whoever looks at it.
 */
export function limitJsonShape(app: FastifyInstance): void {
  app.addHook("preParsing", (request, _reply, payload, done) => {
    if (!jsonType.test(request.headers["content-type"] ?? "") || isSmall(request)) {
      done(null, payload);
      return;
    }
    const checkedStream = new ShapeCheckStream();
    payload.once("error", (error) => checkedStream.destroy(error));
    done(null, payload.pipe(checkedStream));
  });
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const reason = isSmall(request) ? new JsonShapeChecker().findViolation(body) : null;
    if (reason === null) void parse(request, body.toString(), done);
    else done(createShapeProblem(reason));
  });
}

/**
 * Whether its length was announced and is small: then it is looked at whole, which costs less than
 * a stream.
 */
function isSmall({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? NaN) <= smallBytes;
}

function createShapeProblem(reason: string): Problem {
  return new Problem("validation_error", { members: { errors: [{ path: "", reason }] } });
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

class ShapeCheckStream extends Transform {
  readonly #shape = new JsonShapeChecker();

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const reason = this.#shape.findViolation(chunk);
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
  #values = 0;
  #inString = false;
  /** Whether the next byte of a string is escaped. */
  #escaped = false;

  /** What is wrong with the body so far, the next piece included. */
  findViolation(chunk: Buffer): "too_deep" | "too_many_values" | null {
    for (let index = 0; index < chunk.length; index++) {
      if (this.#inString) index = this.#endOfString(chunk, index);
      const byte = chunk[index];
      if (byte === quote) this.#inString = !this.#inString;
      else if (byte === openBracket || byte === openBrace) {
        this.#values++;
        if (++this.#depth > maxDepth) return "too_deep";
      } else if (byte === closeBracket || byte === closeBrace) this.#depth--;
      else if (byte === comma) this.#values++;
      if (this.#values > maxValues) return "too_many_values";
    }
    return null;
  }

  /** Where the string ends that goes on at `start`: at a quote, or behind the piece. */
  #endOfString(chunk: Buffer, start: number): number {
    let position = start;
    if (this.#escaped) {
      this.#escaped = false;
      position++;
    }
    for (let end = chunk.indexOf(quote, position); end !== -1; end = chunk.indexOf(quote, end + 1))
      if (countEscapesBefore(chunk, position, end) % 2 === 0) return end;
    this.#escaped = countEscapesBefore(chunk, position, chunk.length) % 2 === 1;
    return chunk.length;
  }
}

/** Backslashes without a gap between `start` and `end`, counted from the end. */
function countEscapesBefore(chunk: Buffer, start: number, end: number): number {
  let count = 0;
  while (end - 1 - count >= start && chunk[end - 1 - count] === backslash) count++;
  return count;
}
