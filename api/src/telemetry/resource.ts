import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { telemetryRoutes } from "./routes.ts";
import { deleteExpiredMeasurements } from "./measurements.ts";

export const telemetry: Resource<Services> = {
  routes: telemetryRoutes,
  sweeps: { measurements: deleteExpiredMeasurements },
};
