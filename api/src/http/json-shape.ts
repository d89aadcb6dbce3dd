import type { FastifyInstance } from "fastify";

import { Problem } from "./problem.ts";

/** Levels of arrays and objects: the deepest call, a batch of secrets with a keyring change, has six. */
export const maxDepth = 16;
/** A keyring change that removes as much as it may has a hundred thousand. */
export const maxValues = 150_000;

/**
 * JSON bodies of a reasonable shape are parsed as Fastify does; the others are refused before anything is made of them. A
 * body of three megabytes of brackets takes a second to parse, and the stack of whoever looks at it.
 */
export function parseShapedJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    const reason = misshapen(body);
    if (reason === null) void parse(request, body, done);
    else done(new Problem("validation_error", { members: { errors: [{ path: "", reason }] } }), undefined);
  });
}

/** Looks at brackets and commas outside of strings, once. Whether it is JSON at all is the parser's affair. */
function misshapen(text: string): "too_deep" | "too_many_values" | null {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "[" || character === "{") {
      if (++depth > maxDepth) return "too_deep";
      values++;
    } else if (character === "]" || character === "}") depth--;
    else if (character === ",") values++;
    if (values > maxValues) return "too_many_values";
  }
  return null;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
