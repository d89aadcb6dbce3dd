import { useMatches } from "react-router-dom";

import { useHost } from "./host-context.ts";
import type { Place } from "./places.ts";

/** The place that the router found for the address; null where a route only leads elsewhere. */
export function usePlace(): Place | null {
  const { places } = useHost();
  const handle = useMatches().at(-1)?.handle;
  return places.find((place) => place === handle) ?? null;
}
