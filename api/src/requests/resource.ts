import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import {
  deleteEndedRequests,
  deleteExpiredAnswers,
  dropCollectedAnswers,
  dropExpiredDocuments,
} from "./delete-expired.ts";
import { revokeAtRotation } from "./queries.ts";
import { requestRoutes } from "./routes.ts";

export const requests: Resource<Services> = {
  routes: requestRoutes,
  sweeps: {
    answers: deleteExpiredAnswers,
    collected: dropCollectedAnswers,
    documents: dropExpiredDocuments,
    ended_requests: deleteEndedRequests,
  },
  onKeyringChange: revokeAtRotation,
};
