import { ProblemDocument } from "@relicario/shared/api";
import type { z } from "zod";

/**
 * What a route can answer: its own answer, and problem documents for everything that can go wrong.
 */
export function buildResponseSchemas<T extends z.ZodType, S extends 200 | 202 | 204 = 200>(body: T, status?: S) {
  const problems = {
    400: ProblemDocument,
    401: ProblemDocument,
    403: ProblemDocument,
    404: ProblemDocument,
    409: ProblemDocument,
    410: ProblemDocument,
    413: ProblemDocument,
    415: ProblemDocument,
    416: ProblemDocument,
    422: ProblemDocument,
    429: ProblemDocument,
    500: ProblemDocument,
    503: ProblemDocument,
  };
  return { [status ?? 200]: body, ...problems } as Record<S, T> & typeof problems;
}
