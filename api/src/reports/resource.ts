import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { reportRoutes } from "./routes.ts";
import { deleteExpiredReports } from "./share-report.ts";

export const reports: Resource<Services> = { routes: reportRoutes, sweeps: { reports: deleteExpiredReports } };
