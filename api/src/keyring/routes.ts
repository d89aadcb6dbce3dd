import { maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import { requireActor } from "../auth/access.ts";
import type { Actor } from "../auth/actor.ts";
import { withSnapshot, type Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import { getRequestContext, type RequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { applyChange, createChangeCall, findRecordedResponse, type ChangeCall } from "./apply-change.ts";
import { isAccountReset } from "./check-change.ts";
import { presentImageRecord, presentKeyring } from "./present.ts";
import { type KeyringRow, readImageRecords, readKeyring, readKeyStatement, readStates } from "./queries.ts";
import { keyringSchemas } from "./schema.ts";

/** Applies a change that resets the account, in place of {@link applyChange}. */
export type CompleteReset = (
  tx: Tx,
  actor: Actor,
  storedKeyring: KeyringRow,
  call: ChangeCall,
  services: Services,
  context: RequestContext,
) => Promise<number>;

export function createKeyringRoutes(completeReset: CompleteReset): FastifyPluginAsyncZod<{ services: Services }> {
  return async function keyringRoutes(app, { services }) {
    const { db, recordBox, vendors, now } = services;

    app.get(
      "/user/keyring",
      { schema: keyringSchemas.readKeyring, config: { access: "signed_in" } },
      async (request, reply) => {
        const scope = requireActor(request);
        const { states_since: statesSince, or_none: orNone } = request.query;
        const presentedKeyring = await withSnapshot(db, async (tx) => {
          const keyring = await readKeyring(tx, scope);
          return keyring === null
            ? null
            : presentKeyring(keyring, statesSince === undefined ? undefined : await readStates(tx, scope, statesSince));
        });
        if (presentedKeyring !== null) return presentedKeyring;
        if (orNone === undefined) throw new Problem("no_keyring");
        return reply.code(204).send(null);
      },
    );

    app.put(
      "/user/keyring",
      {
        schema: keyringSchemas.applyChange,
        bodyLimit: maxJsonBodyBytes,
        config: { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true },
      },
      async (request) => {
        const actor = requireActor(request);
        const call = createChangeCall(request.body);
        return withLockedAccount(services, actor.accountId, async (tx, account) => {
          const storedKeyring = await readKeyring(tx, actor);
          const recordedResponse = findRecordedResponse(storedKeyring, call);
          if (recordedResponse === null) {
            const context = getRequestContext(request, now());
            const isReset = storedKeyring !== null && isAccountReset(storedKeyring, call.change);
            const addedBytes = await (isReset
              ? completeReset(tx, actor, storedKeyring, call, services, context)
              : applyChange(tx, account, storedKeyring, call, null, services, context));
            await chargeStorage(tx, vendors.require(account.vendorId), account, addedBytes, quotaReserveBytes);
          }
          return { state_rev: call.change.state_rev };
        });
      },
    );

    app.get(
      "/user/image-records",
      {
        schema: keyringSchemas.readImageRecords,
        config: { access: "signed_in", rateLimits: [rateLimitRules.imageRecords] },
      },
      async (request) => {
        const scope = requireActor(request);
        const rows = await readImageRecords(db, scope);
        return { image_records: rows.map((row) => presentImageRecord(recordBox, scope.accountId, row)) };
      },
    );

    app.get(
      "/users/:user_name/key",
      {
        schema: keyringSchemas.readKeyStatement,
        config: { access: "signed_in", rateLimits: [rateLimitRules.keyDirectory] },
      },
      async (request) => {
        const statement = await readKeyStatement(db, requireActor(request), request.params.user_name);
        if (statement === null) throw new Problem("not_found");
        return statement;
      },
    );
  };
}
