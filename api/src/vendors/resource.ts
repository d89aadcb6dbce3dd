import type { Resource } from "../resource/resource.ts";
import { vendorRoutes } from "./routes.ts";
import type { Vendors } from "./vendors.ts";

export const vendorDetails: Resource<{ readonly vendors: Vendors }> = { routes: vendorRoutes };
