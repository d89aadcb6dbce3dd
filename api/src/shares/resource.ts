import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import {
  deleteEndedShares,
  deleteExpiredClaims,
  deleteLeftoverRecipients,
  dropExpiredTickets,
} from "./delete-expired.ts";
import { endSharesOfContents } from "./end-shares.ts";
import { warnBeforeExpiry } from "./expiry-warning.ts";
import { shareRoutes } from "./routes.ts";

export const shares: Resource<Services> = {
  routes: shareRoutes,
  sweeps: {
    shares_ending: warnBeforeExpiry,
    tickets: dropExpiredTickets,
    claims: deleteExpiredClaims,
    ended_shares: deleteEndedShares,
    recipients: deleteLeftoverRecipients,
  },
  onContentsRemoved: endSharesOfContents,
};
