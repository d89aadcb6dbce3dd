import { useMatches } from "react-router-dom";

import { useHost } from "./host-context.ts";
import type { PortalRoute } from "../routes/routes.ts";

/** The route that matches the address; null when the address only redirects. */
export function useCurrentRoute(): PortalRoute | null {
  const { routes } = useHost();
  const handle = useMatches().at(-1)?.handle;
  return routes.find((route) => route === handle) ?? null;
}
