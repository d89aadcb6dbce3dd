import { maxJsonBodyBytes } from "@relicario/shared/api";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import { withSnapshot } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules } from "../http/rate-limits.ts";
import type { Services } from "../services/services.ts";
import { stageSchemas } from "./schema.ts";
import { readStageManifest, stageRows } from "./stage.ts";

export const stageRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  const { db, now } = services;

  app.post(
    "/user/keyring/stage",
    {
      schema: stageSchemas.stageRows,
      bodyLimit: maxJsonBodyBytes,
      config: { access: "signed_in", rateLimits: [rateLimitRules.write], idempotent: true },
    },
    (request) => stageRows(services, requireActor(request), request.body, now()),
  );

  app.get(
    "/user/keyring/stage/:stage_id",
    { schema: stageSchemas.readManifest, config: { access: "signed_in" } },
    async (request) => {
      const scope = requireActor(request);
      const { stage_id: stageId } = request.params;
      const page = await withSnapshot(db, (tx) =>
        readStageManifest(tx, scope, stageId, { ...request.query, now: now() }),
      );
      if (page === null) throw new Problem("not_found");
      return page;
    },
  );
};
