import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../auth/access.ts";
import type { Db } from "../db/database.ts";
import { presentActivity } from "./present.ts";
import { readActivity } from "./queries.ts";
import { activitySchemas } from "./schema.ts";

export const activityRoutes: FastifyPluginAsyncZod<{ services: { readonly db: Db } }> = async (app, { services }) => {
  app.get("/user/activity", { schema: activitySchemas.list, config: { access: "signed_in" } }, async (request) =>
    presentActivity(await readActivity(services.db, requireActor(request), request.query), request.query.limit),
  );
};
