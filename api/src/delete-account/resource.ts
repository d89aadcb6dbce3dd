import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteDueAccounts } from "./delete-due-accounts.ts";
import { accountDeletionRoutes } from "./routes.ts";

export const accountDeletion: Resource<Services> = {
  routes: accountDeletionRoutes,
  sweeps: { accounts: deleteDueAccounts },
};
