import { maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { languageOf } from "../mail/language.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import type { Services } from "../services.ts";
import { applyChange, callOf, repeatOf } from "./apply-change.ts";
import { directoryPolicy, keyringPolicy } from "./policy.ts";
import { presentImageRecord, presentKeyring } from "./present.ts";
import { changeAccount, inOneMoment, readImageRecords, readKeyring, readKeyStatement, readStates } from "./queries.ts";
import { keyringSchemas } from "./schema.ts";

export const keyringRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, recordBox, vendors, now } = services;

  app.get("/user/keyring", { schema: keyringSchemas.get, config: { access: "signed_in" } }, async (request, reply) => {
    const own = keyringPolicy(actorOf(request));
    const { states_since: since, or_none: orNone } = request.query;
    const answer = await inOneMoment(db, async (tx) => {
      const keyring = await readKeyring(tx, own);
      return keyring === null ? null : presentKeyring(keyring, since === undefined ? undefined : await readStates(tx, own, since));
    });
    if (answer !== null) return answer;
    if (orNone === undefined) throw new Problem("no_keyring");
    return reply.code(204).send(null);
  });

  app.put(
    "/user/keyring",
    { schema: keyringSchemas.put, bodyLimit: maxJsonBodyBytes, config: { access: "signed_in", rates: [rateRules.write], idempotent: true } },
    async (request) => {
      const own = keyringPolicy(actorOf(request));
      const call = callOf(request.body);
      return changeAccount(services, own.accountId, async (tx, account) => {
        const stored = await readKeyring(tx, own);
        const repeated = repeatOf(stored, call);
        if (repeated === null) {
          const added = await applyChange(tx, account, stored, call, null, services, { now: now(), language: languageOf(request) });
          await countStored(tx, vendors.require(account.vendorId), account, added, reserveBytes);
        }
        return { state_rev: call.change.state_rev };
      });
    },
  );

  app.get(
    "/user/image-records",
    { schema: keyringSchemas.imageRecords, config: { access: "signed_in", rates: [rateRules.imageRecords] } },
    async (request) => {
      const own = keyringPolicy(actorOf(request));
      const rows = await readImageRecords(db, own);
      return { image_records: rows.map((row) => presentImageRecord(recordBox, own.accountId, row)) };
    },
  );

  app.get(
    "/users/:user_name/key",
    { schema: keyringSchemas.keyOf, config: { access: "signed_in", rates: [rateRules.keyDirectory] } },
    async (request) => {
      const statement = await readKeyStatement(db, directoryPolicy(actorOf(request)), request.params.user_name);
      if (statement === null) throw new Problem("not_found");
      return statement;
    },
  );
};
