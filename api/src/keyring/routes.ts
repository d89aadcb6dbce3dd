import { maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { actorOf } from "../http/access.ts";
import { Problem } from "../http/problem.ts";
import { rateRules } from "../http/rate-limits.ts";
import { languageOf } from "../mail/language.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import type { Services } from "../services.ts";
import { beginAnew } from "../start-anew/begin.ts";
import { applyChange, callOf, repeatOf } from "./apply-change.ts";
import { startsAnew } from "./check-change.ts";
import { directoryPolicy, keyringPolicy } from "./policy.ts";
import { presentImageRecord, presentKeyring } from "./present.ts";
import { changeAccount, inOneMoment, readImageRecords, readKeyring, readKeyStatement, readStates } from "./queries.ts";
import { keyringSchemas } from "./schema.ts";
import { readStaged, stageRows } from "./stage.ts";

export const keyringRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, recordBox, vendors, now } = services;

  app.get("/user/keyring", { schema: keyringSchemas.get, config: { access: "signed_in" } }, async (request, reply) => {
    const own = keyringPolicy(actorOf(request));
    const { states_since: since, or_none: orNone } = request.query;
    const answer = await inOneMoment(db, async (tx) => {
      const keyring = await readKeyring(tx, own);
      return keyring === null
        ? null
        : presentKeyring(keyring, since === undefined ? undefined : await readStates(tx, own, since));
    });
    if (answer !== null) return answer;
    if (orNone === undefined) throw new Problem("no_keyring");
    return reply.code(204).send(null);
  });

  app.put(
    "/user/keyring",
    {
      schema: keyringSchemas.put,
      bodyLimit: maxJsonBodyBytes,
      config: { access: "signed_in", rates: [rateRules.write], idempotent: true },
    },
    async (request) => {
      const actor = actorOf(request);
      const own = keyringPolicy(actor);
      const call = callOf(request.body);
      return changeAccount(services, own.accountId, async (tx, account) => {
        const stored = await readKeyring(tx, own);
        const repeated = repeatOf(stored, call);
        if (repeated === null) {
          const when = { now: now(), language: languageOf(request) };
          const anew = stored !== null && startsAnew(stored, call.change);
          const added = await (anew
            ? beginAnew(tx, actor, stored, call, services, when)
            : applyChange(tx, account, stored, call, null, services, when));
          await countStored(tx, vendors.require(account.vendorId), account, added, reserveBytes);
        }
        return { state_rev: call.change.state_rev };
      });
    },
  );

  app.post(
    "/user/keyring/stage",
    {
      schema: keyringSchemas.stage,
      bodyLimit: maxJsonBodyBytes,
      config: { access: "signed_in", rates: [rateRules.write], idempotent: true },
    },
    (request) => stageRows(services, keyringPolicy(actorOf(request)), request.body, now()),
  );

  app.get(
    "/user/keyring/stage/:stage_id",
    { schema: keyringSchemas.staged, config: { access: "signed_in" } },
    async (request) => {
      const own = keyringPolicy(actorOf(request));
      const { stage_id: stageId } = request.params;
      const page = await inOneMoment(db, (tx) =>
        readStaged(tx, own, stageId, { cursor: request.query.cursor, now: now() }),
      );
      if (page === null) throw new Problem("not_found");
      return page;
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
