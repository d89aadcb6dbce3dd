import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { sessionRoutes } from "./routes.ts";
import { deleteExpiredSessions } from "./sign-ins.ts";

export const sessions: Resource<Services> = { routes: sessionRoutes, sweeps: { sessions: deleteExpiredSessions } };
