import { constants, type ZlibOptions, type ZstdOptions } from "node:zlib";

import compress, { type FastifyCompressRouteOptions } from "@fastify/compress";
import { defaultListPageSize, downloadPath, maxJsonBodyBytes, maxSmallSealedBytes } from "@relicario/shared/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { withSnapshot } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { withStateRev } from "../keyring/with-state-rev.ts";
import { getRequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { createFavoriteSetter } from "./favorites.ts";
import { createListing } from "./listing.ts";
import { presentContent, presentSecret, presentVersions, serializePage } from "./present.ts";
import { findVersion, readVersions, type RevisionCounters } from "./queries.ts";
import { secretSchemas } from "./schema.ts";
import { storeBatch } from "./store-batch.ts";
import { storeSecret } from "./store.ts";
import { openContent, readRangeRequest, readContent, sendContent } from "./stream.ts";
import { trashSecret } from "./trash.ts";

export const secretRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { concurrency, db, now } = services;
  const listing = createListing(db);
  const setFavorite = createFavoriteSetter(services);
  const writeConfig = { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true } as const;

  // Labels are base64url of random bytes, a quarter of which is redundant: the fastest level
  // removes it. Request bodies are never decompressed.
  const compressionOptions: ZlibOptions & ZstdOptions = {
    level: constants.Z_BEST_SPEED,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  };
  const compression = {
    encodings: ["zstd", "br", "gzip"],
    threshold: 4_096,
    syncThreshold: 256 * 1_024, // below it a stream costs more than compressing at once
    zlibOptions: compressionOptions,
  } satisfies FastifyCompressRouteOptions["compress"];
  await app.register(compress, { globalCompression: false, globalDecompression: false });
  // The page is serialized already: validating each row would take longer than all else. A test
  // validates the rows instead.
  const listOptions = { schema: secretSchemas.list, compress: compression, config: { access: "signed_in" } } as const;
  app.get("/secrets/store", listOptions, async (request, reply) => {
    const scope = requireActor(request);
    const knownEtag = request.headers["if-none-match"];
    if (knownEtag !== undefined && knownEtag === formatEtag(await listing.readCounters(scope)))
      return reply.code(304).send();
    const page = await concurrency.runListReadExclusive(scope.accountId, () => listing.readPage(scope, request.query));
    return sendJsonText(reply.header("etag", formatEtag(page)), serializePage(page));
  });

  app.post(
    "/secrets/store",
    { schema: secretSchemas.store, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) => storeSecret(services, requireActor(request), request.body, getRequestContext(request, now())),
  );

  app.post(
    "/secrets/store/batch",
    { schema: secretSchemas.storeBatch, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) => storeBatch(services, requireActor(request), request.body, getRequestContext(request, now())),
  );

  app.delete("/secrets/store/:secret_db_id", { schema: secretSchemas.trash, config: writeConfig }, (request) =>
    trashSecret(services, requireActor(request), request.params.secret_db_id, getRequestContext(request, now())),
  );

  app.get(
    "/secrets/store/:secret_db_id/versions",
    { schema: secretSchemas.listVersions, config: { access: "signed_in" } },
    async (request) => {
      const scope = requireActor(request);
      const { secret_db_id: id } = request.params;
      const { page, stateRev } = await withStateRev(db, scope, (tx) => readVersions(tx, scope, id, request.query));
      if (page.length === 0) throw new Problem("not_found");
      return { secret_db_id: id, ...presentVersions(page, request.query.limit), state_rev: stateRev };
    },
  );

  app.post(
    "/secrets/store/get-secret",
    { schema: secretSchemas.get, config: { access: "signed_in", idempotent: true } },
    async (request) => {
      const scope = requireActor(request);
      const { secret_db_id: id, version } = request.body;
      const limit = defaultListPageSize;
      const { row, storedVersion, versions } = await withSnapshot(db, async (tx) => ({
        ...(await findVersion(tx, scope, id, version)),
        versions: await readVersions(tx, scope, id, { limit }),
      }));
      const content =
        storedVersion.size > maxSmallSealedBytes ? null : await readContent(services, scope, storedVersion);
      return { ...presentContent(row, storedVersion, content), ...presentVersions(versions, limit) };
    },
  );

  // Before the handler, which may run again for the same download.
  const admitDownload = async (request: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    concurrency.admitDownload(requireActor(request).accountId, raw);
  };
  app.post(
    downloadPath,
    {
      schema: secretSchemas.downloadContent,
      config: { access: "signed_in", idempotent: true },
      preHandler: admitDownload,
    },
    async (request, reply) => {
      const { secret_db_id: id, version } = request.body;
      const scope = requireActor(request);
      return sendContent(reply, await openContent(services, scope, { id, version, ...readRangeRequest(request) }));
    },
  );

  app.patch("/secrets/favorite", { schema: secretSchemas.favorite, config: writeConfig }, async (request) =>
    presentSecret(await setFavorite(requireActor(request), request.body)),
  );
};

function sendJsonText(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(json);
}

function formatEtag({ changes, stateRev }: RevisionCounters): string {
  return `"${String(changes)}.${String(stateRev)}"`;
}
