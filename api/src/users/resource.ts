import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteExpiredValidations } from "./contact-address.ts";
import { remindOfCopyChecks } from "./copy-check-reminder.ts";
import { userRoutes } from "./routes.ts";

export const users: Resource<Services> = {
  routes: userRoutes,
  sweeps: { rehearsals: remindOfCopyChecks, questions: deleteExpiredValidations },
};
