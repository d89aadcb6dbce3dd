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
export function parseShapedJson(app: FastifyInstance): void {
  app.addHook("preParsing", (request, _reply, payload, done) => {
    if (!jsonType.test(request.headers["content-type"] ?? "") || isSmall(request)) {
      done(null, payload);
      return;
    }
    const shaped = new Shaped();
    payload.once("error", (error) => shaped.destroy(error));
    done(null, payload.pipe(shaped));
  });
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const reason = isSmall(request) ? new Shape().misshapen(body) : null;
    if (reason === null) void parse(request, body.toString(), done);
    else done(refusal(reason));
  });
}

/**
 * Whether its length was announced and is small: then it is looked at whole, which costs less than
 * a stream.
 */
function isSmall({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? NaN) <= smallBytes;
}

function refusal(reason: string): Problem {
  return new Problem("validation_error", { members: { errors: [{ path: "", reason }] } });
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

class Shaped extends Transform {
  readonly #shape = new Shape();

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const reason = this.#shape.misshapen(piece);
    if (reason === null) done(null, piece);
    else done(refusal(reason));
  }
}

/**
 * Looks at brackets and commas outside of strings, once. Whether it is JSON at all is the parser's
 * affair. Bytes of UTF-8 above 0x7f are none of these.
 */
class Shape {
  #depth = 0;
  #values = 0;
  #inString = false;
  /** Whether the next byte of a string is escaped. */
  #escaped = false;

  /** What is wrong with the body so far, the next piece included. */
  misshapen(piece: Buffer): "too_deep" | "too_many_values" | null {
    for (let at = 0; at < piece.length; at++) {
      if (this.#inString) at = this.#endOfString(piece, at);
      const byte = piece[at];
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
  #endOfString(piece: Buffer, start: number): number {
    let at = start;
    if (this.#escaped) {
      this.#escaped = false;
      at++;
    }
    for (let end = piece.indexOf(quote, at); end !== -1; end = piece.indexOf(quote, end + 1))
      if (escapesBefore(piece, at, end) % 2 === 0) return end;
    this.#escaped = escapesBefore(piece, at, piece.length) % 2 === 1;
    return piece.length;
  }
}

/** Backslashes without a gap between `start` and `end`, counted from the end. */
function escapesBefore(piece: Buffer, start: number, end: number): number {
  let count = 0;
  while (end - 1 - count >= start && piece[end - 1 - count] === backslash) count++;
  return count;
}
