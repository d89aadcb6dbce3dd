import { StartAnew } from "@relicario/shared/api";
import type { CallOptions, PortalForServices, StartAnewStatus, VaultStartAnew } from "@relicario/shared/contract";

import { requirePicture, type ShownPicture } from "../shown-image.ts";

interface StartAnewParts {
  readonly portal: Pick<PortalForServices, "http" | "signInAgain">;
  /** The act of the worker. */
  readonly begin: (
    picture: { readonly shown: ShownPicture; readonly name: string },
    options?: CallOptions,
  ) => Promise<void>;
}

const path = "/user/start-anew";

/**
 * Signing in again happens in the click itself, before anything else: else browsers keep the window
 * closed.
 */
export function startAnewOnPage({ portal, begin }: StartAnewParts): VaultStartAnew {
  const { http, signInAgain } = portal;
  return Object.freeze<VaultStartAnew>({
    status: async ({ signal } = {}) =>
      present(await http.request("GET", path, StartAnew, signal === undefined ? {} : { signal })),
    ask: async () => {
      await signInAgain();
      return present(await http.request("POST", path, StartAnew));
    },
    end: async (reason) => present(await http.request("DELETE", path, StartAnew, { query: { reason } })),
    begin: async ({ shown, name }, options) => {
      const picture = requirePicture(shown);
      await signInAgain();
      await begin({ shown: picture, name }, options);
    },
  });
}

function present({
  state,
  asked_at: askedAt,
  ready_at: readyAt,
  ended_at: endedAt,
  kept_until: keptUntil,
}: StartAnew): StartAnewStatus {
  return { state, askedAt, readyAt, endedAt, keptUntil };
}
