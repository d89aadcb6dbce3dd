import { ProblemDocument } from "@relicario/shared/api";
import { z } from "zod";

const problem = { content: { "application/problem+json": { schema: ProblemDocument } } };
const problems = {
  400: problem,
  401: problem,
  403: problem,
  404: problem,
  408: problem,
  409: problem,
  410: problem,
  413: problem,
  414: problem,
  415: problem,
  416: problem,
  422: problem,
  429: problem,
  431: problem,
  500: problem,
  503: problem,
};

/** Schemas of a route: its response, and problem documents for all errors. */
export function buildResponseSchemas<T extends z.ZodType, S extends 200 | 202 | 204 = 200>(body: T, status?: S) {
  return { [status ?? 200]: body, ...problems } as Record<S, T> & typeof problems;
}

const bytes = { content: { "application/octet-stream": { schema: z.unknown() } } };

/** Schemas of a route that streams a sealed content, or the requested range of it. */
export const contentResponseSchemas = { 200: bytes, 206: bytes, ...problems };
