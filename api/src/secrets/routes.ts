import compress from "@fastify/compress";
import { downloadPath, maxJsonBodyBytes, maxSmallSecretBytes } from "@relicario/shared/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { changeAccount, inOneMoment } from "../keyring/queries.ts";
import { languageOf } from "../mail/language.ts";
import type { Services } from "../services.ts";
import { secretsPolicy } from "./policy.ts";
import { presentContent, presentPage, presentSecret, presentVersion } from "./present.ts";
import { findSecret, findVersion, listSecrets, nextChange, readCounters, readVersions, writeFavorite, type Counters } from "./queries.ts";
import { secretSchemas } from "./schema.ts";
import { storeSecret } from "./store.ts";
import { openContent, rangeRequestOf, readContent, sendContent } from "./stream.ts";
import { trashSecret } from "./trash.ts";

export const secretRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { calls, db, now } = services;
  const write = { access: "signed_in", rates: [rateRules.write], idempotent: true } as const;

  // Labels are base64url of noise: a quarter of the bytes is air. Bodies that come in are never unpacked.
  await app.register(compress, { globalCompression: false, globalDecompression: false, encodings: ["zstd", "br", "gzip"], threshold: 4_096 });
  app.get("/secrets/store", { schema: secretSchemas.list, compress: {}, config: { access: "signed_in" } }, async (request, reply) => {
    const own = secretsPolicy(actorOf(request));
    if (request.headers["if-none-match"] === etagOf(await readCounters(db, own))) return reply.code(304).send();
    const page = await calls.pageInTurn(own.accountId, () => listSecrets(db, own, request.query));
    return reply.header("etag", etagOf(page)).send(presentPage(page));
  });

  app.post("/secrets/store", { schema: secretSchemas.store, bodyLimit: maxJsonBodyBytes, config: write }, (request) =>
    storeSecret(services, secretsPolicy(actorOf(request)), request.body, { now: now(), language: languageOf(request) }),
  );

  app.delete("/secrets/store/:secret_db_id", { schema: secretSchemas.trash, config: write }, (request) =>
    trashSecret(services, secretsPolicy(actorOf(request)), request.params.secret_db_id, { now: now(), language: languageOf(request) }),
  );

  app.get("/secrets/store/:secret_db_id/versions", { schema: secretSchemas.versions, config: { access: "signed_in" } }, async (request) => {
    const own = secretsPolicy(actorOf(request));
    const versions = await readVersions(db, own, request.params.secret_db_id);
    if (versions.length === 0) throw new Problem("not_found");
    return { secret_db_id: request.params.secret_db_id, versions: versions.map(presentVersion) };
  });

  app.post("/secrets/store/get-secret", { schema: secretSchemas.get, config: { access: "signed_in", idempotent: true } }, async (request) => {
    const own = secretsPolicy(actorOf(request));
    const { secret_db_id: id, version } = request.body;
    const { row, wanted, versions } = await inOneMoment(db, async (tx) => ({ ...(await findVersion(tx, own, id, version)), versions: await readVersions(tx, own, id) }));
    return presentContent(row, wanted, versions, wanted.size > maxSmallSecretBytes ? null : await readContent(services, own, wanted));
  });

  // Counted before the handler, which may be run again for one and the same download.
  const countDownload = async (request: FastifyRequest, { raw }: FastifyReply): Promise<void> => {
    calls.enterDownload(actorOf(request).accountId, raw);
  };
  app.post(downloadPath, { schema: secretSchemas.stream, config: { access: "signed_in", idempotent: true }, preHandler: countDownload }, async (request, reply) => {
    const { secret_db_id: id, version } = request.body;
    const own = secretsPolicy(actorOf(request));
    return sendContent(reply, await openContent(services, own, { id, version, ...rangeRequestOf(request) }));
  });

  app.patch("/secrets/favorite", { schema: secretSchemas.favorite, config: write }, (request) => {
    const own = secretsPolicy(actorOf(request));
    const { secret_db_id: id, favorite } = request.body;
    return changeAccount(services, own.accountId, async (tx) => {
      const row = await findSecret(tx, own, id);
      if (row === null) throw new Problem("not_found");
      if (row.favorite === favorite) return presentSecret(row);
      const change = await nextChange(tx, own.accountId);
      await writeFavorite(tx, own, id, favorite, change);
      return presentSecret({ ...row, favorite, change });
    });
  });
};

function etagOf({ changes, stateRev }: Counters): string {
  return `"${String(changes)}.${String(stateRev)}"`;
}
