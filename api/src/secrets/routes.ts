import { createHash } from "node:crypto";

import { maxJsonBodyBytes, maxSmallSecretBytes } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { inOneMoment, lockAccount } from "../keyring/queries.ts";
import type { Services } from "../services.ts";
import { secretsPolicy } from "./policy.ts";
import { presentContent, presentPage, presentSecret } from "./present.ts";
import { findSecret, listSecrets, nextChange, readCounters, readVersions, writeFavorite, writeTrashed, type Counters } from "./queries.ts";
import { secretSchemas } from "./schema.ts";
import { storeSecret } from "./store.ts";

export const secretRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, objects } = services;
  const write = { access: "signed_in", rates: [rateRules.write] } as const;

  app.get("/secrets/store", { schema: secretSchemas.list, config: { access: "signed_in" } }, async (request, reply) => {
    const own = secretsPolicy(actorOf(request));
    if (request.headers["if-none-match"] === etagOf(await readCounters(db, own))) return reply.code(304).send();
    const page = await listSecrets(db, own, request.query);
    return reply.header("etag", etagOf(page)).send(presentPage(page));
  });

  app.post("/secrets/store", { schema: secretSchemas.store, bodyLimit: maxJsonBodyBytes, config: write }, (request) =>
    storeSecret(services, secretsPolicy(actorOf(request)), request.body),
  );

  app.delete("/secrets/store/:secret_db_id", { schema: secretSchemas.trash, config: write }, (request) => {
    const own = secretsPolicy(actorOf(request));
    const { secret_db_id: id } = request.params;
    return db.transaction(async (tx) => {
      await lockAccount(tx, own.accountId);
      const row = await findSecret(tx, own, id);
      if (row === null) throw new Problem("not_found");
      if (row.deletedAt !== null) return presentSecret(row); // it is there already
      const deletedAt = new Date();
      const change = await nextChange(tx, own.accountId);
      await writeTrashed(tx, own, id, deletedAt, change);
      return presentSecret({ ...row, deletedAt, change });
    });
  });

  app.post("/secrets/store/get-secret", { schema: secretSchemas.get, config: { access: "signed_in" } }, async (request) => {
    const own = secretsPolicy(actorOf(request));
    const { secret_db_id: id, version } = request.body;
    const { row, versions } = await inOneMoment(db, async (tx) => ({ row: await findSecret(tx, own, id), versions: await readVersions(tx, own, id) }));
    const wanted = versions.find((candidate) => candidate.version === (version ?? row?.version));
    if (row === null || wanted === undefined) throw new Problem("not_found");
    if (wanted.size > maxSmallSecretBytes) return presentContent(row, wanted, versions, null);
    const content = await objects.get(wanted.objectKey);
    if (!createHash("sha256").update(content).digest().equals(wanted.contentSha256)) throw new Error("a stored object has other bytes");
    return presentContent(row, wanted, versions, content);
  });

  app.patch("/secrets/favorite", { schema: secretSchemas.favorite, config: write }, (request) => {
    const own = secretsPolicy(actorOf(request));
    const { secret_db_id: id, favorite } = request.body;
    return db.transaction(async (tx) => {
      await lockAccount(tx, own.accountId);
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
