import { constants, type ZlibOptions, type ZstdOptions } from "node:zlib";

import compress, { type FastifyCompressRouteOptions } from "@fastify/compress";
import { downloadPath, maxJsonBodyBytes, maxSmallSecretBytes } from "@relicario/shared/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { inOneMoment } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { createListing } from "./listing.ts";
import { secretsPolicy } from "./policy.ts";
import { presentContent, presentSecret, presentVersion, writePage } from "./present.ts";
import { findVersion, readVersions, type Counters } from "./queries.ts";
import { secretSchemas } from "./schema.ts";
import { createStars } from "./stars.ts";
import { storeBatch } from "./store-batch.ts";
import { storeSecret } from "./store.ts";
import { openContent, rangeRequestOf, readContent, sendContent } from "./stream.ts";
import { trashSecret } from "./trash.ts";

export const secretRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { calls, db, now } = services;
  const listing = createListing(db);
  const setStar = createStars(services);
  const write = { access: "signed_in", rates: [rateRules.write], idempotent: true } as const;

  // Labels are base64url of noise: a quarter of the bytes is air, which the fastest level finds.
  // Bodies that come in are never unpacked.
  const fastest: ZlibOptions & ZstdOptions = {
    level: constants.Z_BEST_SPEED,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  };
  const packed = {
    encodings: ["zstd", "br", "gzip"],
    threshold: 4_096,
    syncThreshold: 256 * 1_024, // a stream costs more than the packing
    zlibOptions: fastest,
  } satisfies FastifyCompressRouteOptions["compress"];
  await app.register(compress, { globalCompression: false, globalDecompression: false });
  // A page comes written: comparing each of its rows with the schema takes longer than all else. A
  // test does that.
  const list = { schema: secretSchemas.list, compress: packed, config: { access: "signed_in" } } as const;
  app.get("/secrets/store", list, async (request, reply) => {
    const own = secretsPolicy(actorOf(request));
    const known = request.headers["if-none-match"];
    if (known !== undefined && known === etagOf(await listing.counters(own))) return reply.code(304).send();
    const page = await calls.pageInTurn(own.accountId, () => listing.page(own, request.query));
    return sendWritten(reply.header("etag", etagOf(page)), writePage(page));
  });

  app.post("/secrets/store", { schema: secretSchemas.store, bodyLimit: maxJsonBodyBytes, config: write }, (request) =>
    storeSecret(services, secretsPolicy(actorOf(request)), request.body, { now: now(), language: languageOf(request) }),
  );

  app.post(
    "/secrets/store/batch",
    { schema: secretSchemas.batch, bodyLimit: maxJsonBodyBytes, config: write },
    (request) =>
      storeBatch(services, secretsPolicy(actorOf(request)), request.body, {
        now: now(),
        language: languageOf(request),
      }),
  );

  app.delete("/secrets/store/:secret_db_id", { schema: secretSchemas.trash, config: write }, (request) =>
    trashSecret(services, secretsPolicy(actorOf(request)), request.params.secret_db_id, {
      now: now(),
      language: languageOf(request),
    }),
  );

  app.get(
    "/secrets/store/:secret_db_id/versions",
    { schema: secretSchemas.versions, config: { access: "signed_in" } },
    async (request) => {
      const own = secretsPolicy(actorOf(request));
      const versions = await readVersions(db, own, request.params.secret_db_id);
      if (versions.length === 0) throw new Problem("not_found");
      return { secret_db_id: request.params.secret_db_id, versions: versions.map(presentVersion) };
    },
  );

  app.post(
    "/secrets/store/get-secret",
    { schema: secretSchemas.get, config: { access: "signed_in", idempotent: true } },
    async (request) => {
      const own = secretsPolicy(actorOf(request));
      const { secret_db_id: id, version } = request.body;
      const { row, wanted, versions } = await inOneMoment(db, async (tx) => ({
        ...(await findVersion(tx, own, id, version)),
        versions: await readVersions(tx, own, id),
      }));
      return presentContent(
        row,
        wanted,
        versions,
        wanted.size > maxSmallSecretBytes ? null : await readContent(services, own, wanted),
      );
    },
  );

  // Counted before the handler, which may be run again for one and the same download.
  const countDownload = async (request: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    calls.enterDownload(actorOf(request).accountId, raw);
  };
  app.post(
    downloadPath,
    { schema: secretSchemas.stream, config: { access: "signed_in", idempotent: true }, preHandler: countDownload },
    async (request, reply) => {
      const { secret_db_id: id, version } = request.body;
      const own = secretsPolicy(actorOf(request));
      return sendContent(reply, await openContent(services, own, { id, version, ...rangeRequestOf(request) }));
    },
  );

  app.patch("/secrets/favorite", { schema: secretSchemas.favorite, config: write }, async (request) =>
    presentSecret(await setStar(secretsPolicy(actorOf(request)), request.body)),
  );
};

/** JSON that is a text already. */
function sendWritten(reply: FastifyReply, json: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(json);
}

function etagOf({ changes, stateRev }: Counters): string {
  return `"${String(changes)}.${String(stateRev)}"`;
}
