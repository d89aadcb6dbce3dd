import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import { requireActor } from "../http/access.ts";
import type { Services } from "../services.ts";
import { authorizeActivity } from "./policy.ts";
import { presentActivity } from "./present.ts";
import { readActivity } from "./queries.ts";
import { activitySchemas } from "./schema.ts";

export const activityRoutes: FastifyPluginAsyncZod<{ services: Services }> = async (app, { services }) => {
  app.get("/user/activity", { schema: activitySchemas.list, config: { access: "signed_in" } }, async (request) =>
    presentActivity(
      await readActivity(services.db, authorizeActivity(requireActor(request)), request.query),
      request.query.limit,
    ),
  );
};
