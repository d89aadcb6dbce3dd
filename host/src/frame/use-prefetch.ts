import { useCallback } from "react";

import { useHost } from "../host-context.ts";
import { placeOf } from "../places.ts";

/** Loads the remote and the page of a path ahead of need. */
export function usePrefetch(): (path: string) => void {
  const { loader, places } = useHost();
  return useCallback(
    (path) => {
      const place = placeOf(places, path);
      if ("remote" in place) loader.prefetch(place.remote, place.pattern);
    },
    [loader, places],
  );
}
