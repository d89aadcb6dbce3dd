import { userNames } from "./accounts/resource.ts";
import { activityList } from "./activity/resource.ts";
import { auth } from "./auth/resource.ts";
import { billing } from "./billing/resource.ts";
import { accountDeletion } from "./delete-account/resource.ts";
import { deviceLinks } from "./device-links/resource.ts";
import { feedback } from "./feedback/resource.ts";
import { rateLimits } from "./http/resource.ts";
import { createKeyring } from "./keyring/resource.ts";
import { unsubscribing } from "./mail/resource.ts";
import { objects } from "./objects/resource.ts";
import { passwords } from "./passwords/resource.ts";
import { reports } from "./reports/resource.ts";
import { requests } from "./requests/resource.ts";
import { completeAccountReset } from "./reset-account/complete-reset.ts";
import { accountReset } from "./reset-account/resource.ts";
import type { Resource } from "./resource/resource.ts";
import { secrets } from "./secrets/resource.ts";
import type { Services } from "./services/services.ts";
import { sessions } from "./sessions/resource.ts";
import { shares } from "./shares/resource.ts";
import { stages } from "./stages/resource.ts";
import { telemetry } from "./telemetry/resource.ts";
import { uploads } from "./uploads/resource.ts";
import { users } from "./users/resource.ts";
import { vendorDetails } from "./vendors/resource.ts";

/**
 * All resources, in the order of their sweeps and of their handling of keyring changes. Accounts
 * come first: later sweeps then skip deleted accounts. Stages precede secrets: a change switches to
 * its stage before it purges contents. Objects come last, so that newly orphaned ones are collected
 * in the same sweep.
 */
export const resources: readonly Resource<Services>[] = [
  accountDeletion,
  auth,
  sessions,
  createKeyring(completeAccountReset),
  stages,
  secrets,
  users,
  shares,
  accountReset,
  uploads,
  requests,
  reports,
  feedback,
  deviceLinks,
  activityList,
  userNames,
  passwords,
  billing,
  vendorDetails,
  unsubscribing,
  telemetry,
  rateLimits,
  objects,
];
