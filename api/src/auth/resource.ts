import type { Resource } from "../resource/resource.ts";
import { authRoutes, type AuthServices } from "./routes.ts";

export const auth: Resource<AuthServices> = { routes: authRoutes };
