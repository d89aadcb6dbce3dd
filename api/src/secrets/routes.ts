import { constants, type ZlibOptions, type ZstdOptions } from "node:zlib";

import compress, { type FastifyCompressRouteOptions } from "@fastify/compress";
import { downloadPath, maxJsonBodyBytes, maxSmallSealedBytes } from "@relicario/shared/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { withSnapshot } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getPreferredLanguage } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { createFavoriteSetter } from "./favorites.ts";
import { createListing } from "./listing.ts";
import { presentContent, presentSecret, presentVersion, serializePage } from "./present.ts";
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
  const writeConfig = { access: "signed_in", rates: [rateLimitRules.write], idempotent: true } as const;

  // Labels are base64url of noise: a quarter of the bytes is air, which the fastest level finds.
  // Bodies that come in are never unpacked.
  const compressionOptions: ZlibOptions & ZstdOptions = {
    level: constants.Z_BEST_SPEED,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  };
  const compression = {
    encodings: ["zstd", "br", "gzip"],
    threshold: 4_096,
    syncThreshold: 256 * 1_024, // a stream costs more than the packing
    zlibOptions: compressionOptions,
  } satisfies FastifyCompressRouteOptions["compress"];
  await app.register(compress, { globalCompression: false, globalDecompression: false });
  // A page comes written: comparing each of its rows with the schema takes longer than all else. A
  // test does that.
  const listOptions = { schema: secretSchemas.list, compress: compression, config: { access: "signed_in" } } as const;
  app.get("/secrets/store", listOptions, async (request, reply) => {
    const scope = requireActor(request);
    const knownEtag = request.headers["if-none-match"];
    if (knownEtag !== undefined && knownEtag === formatEtag(await listing.counters(scope)))
      return reply.code(304).send();
    const page = await concurrency.runPageExclusive(scope.accountId, () => listing.page(scope, request.query));
    return sendJsonText(reply.header("etag", formatEtag(page)), serializePage(page));
  });

  app.post(
    "/secrets/store",
    { schema: secretSchemas.store, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      storeSecret(services, requireActor(request), request.body, {
        now: now(),
        language: getPreferredLanguage(request),
      }),
  );

  app.post(
    "/secrets/store/batch",
    { schema: secretSchemas.batch, bodyLimit: maxJsonBodyBytes, config: writeConfig },
    (request) =>
      storeBatch(services, requireActor(request), request.body, {
        now: now(),
        language: getPreferredLanguage(request),
      }),
  );

  app.delete("/secrets/store/:secret_db_id", { schema: secretSchemas.trash, config: writeConfig }, (request) =>
    trashSecret(services, requireActor(request), request.params.secret_db_id, {
      now: now(),
      language: getPreferredLanguage(request),
    }),
  );

  app.get(
    "/secrets/store/:secret_db_id/versions",
    { schema: secretSchemas.versions, config: { access: "signed_in" } },
    async (request) => {
      const scope = requireActor(request);
      const versions = await readVersions(db, scope, request.params.secret_db_id);
      if (versions.length === 0) throw new Problem("not_found");
      return { secret_db_id: request.params.secret_db_id, versions: versions.map(presentVersion) };
    },
  );

  app.post(
    "/secrets/store/get-secret",
    { schema: secretSchemas.get, config: { access: "signed_in", idempotent: true } },
    async (request) => {
      const scope = requireActor(request);
      const { secret_db_id: id, version } = request.body;
      const { row, storedVersion, versions } = await withSnapshot(db, async (tx) => ({
        ...(await findVersion(tx, scope, id, version)),
        versions: await readVersions(tx, scope, id),
      }));
      return presentContent(
        row,
        storedVersion,
        versions,
        storedVersion.size > maxSmallSealedBytes ? null : await readContent(services, scope, storedVersion),
      );
    },
  );

  // Counted before the handler, which may be run again for one and the same download.
  const admitDownload = async (request: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    concurrency.trackDownload(requireActor(request).accountId, raw);
  };
  app.post(
    downloadPath,
    { schema: secretSchemas.stream, config: { access: "signed_in", idempotent: true }, preHandler: admitDownload },
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

/** JSON that is a text already. */
function sendJsonText(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(json);
}

function formatEtag({ changes, stateRev }: RevisionCounters): string {
  return `"${String(changes)}.${String(stateRev)}"`;
}
