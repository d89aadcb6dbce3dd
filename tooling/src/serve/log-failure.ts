import type { FastifyBaseLogger } from "fastify";

/** `request`: the one that failed, if any. */
export type LogFailure = (
  failure: Readonly<Record<string, string>>,
  request?: { readonly log: FastifyBaseLogger },
) => void;
