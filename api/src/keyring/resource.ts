import type { Resource } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteFormerKeyringParts } from "./delete-expired.ts";
import { createKeyringRoutes, type CompleteReset } from "./routes.ts";

export function createKeyring(completeReset: CompleteReset): Resource<Services> {
  return { routes: createKeyringRoutes(completeReset), sweeps: { former: deleteFormerKeyringParts } };
}
