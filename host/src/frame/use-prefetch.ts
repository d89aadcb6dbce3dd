import { useCallback } from "react";

import { useHost } from "../host-context.ts";
import { placeOf } from "../places.ts";
import { routeShows } from "../remotes/RemoteArea.tsx";

/** Loads the remote and the page of a path ahead of need. */
export function usePrefetch(): (path: string) => void {
  const { loader } = useHost();
  return useCallback(
    (path) => {
      const place = placeOf(path);
      if ("remote" in place) loader.prefetch(place.remote, routeShows(path));
    },
    [loader],
  );
}
