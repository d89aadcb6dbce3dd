import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteExpiredFeedback } from "./queries.ts";
import { feedbackRoutes } from "./routes.ts";

export const feedback: Resource<Services> = { routes: feedbackRoutes, sweeps: { feedback: deleteExpiredFeedback } };
