import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { stageRoutes } from "./routes.ts";
import { deleteExpiredStages, switchToStage } from "./stage.ts";

export const stages: Resource<Services> = {
  routes: stageRoutes,
  sweeps: { stages: deleteExpiredStages },
  onKeyringChange: switchToStage,
};
