import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteExpiredClaims, dropExpiredTickets } from "./collector.ts";
import { endSharesOf } from "./end-shares.ts";
import { warnBeforeExpiry } from "./expiry-warning.ts";
import { shareRoutes } from "./routes.ts";

export const shares: Resource<Services> = {
  routes: shareRoutes,
  sweeps: { shares_ending: warnBeforeExpiry, tickets: dropExpiredTickets, claims: deleteExpiredClaims },
  onContentsEnd: endSharesOf,
};
