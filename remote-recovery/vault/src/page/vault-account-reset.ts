import { AccountReset } from "@relicario/shared/api";
import type { CallOptions, PortalForServices, AccountResetStatus, VaultAccountReset } from "@relicario/shared/contract";

import { requirePresentedPicture, type PresentedPicture } from "../rpc/presented-opener.ts";

interface AccountResetDeps {
  readonly portal: Pick<PortalForServices, "http" | "signInAgain">;
  /** The operation of the worker. */
  readonly reset: (
    picture: { readonly presentedPicture: PresentedPicture; readonly name: string },
    options?: CallOptions,
  ) => Promise<void>;
}

const path = "/user/start-anew";

/**
 * Signing in again happens in the click itself, before anything else: else browsers keep the window
 * closed.
 */
export function createVaultAccountReset({ portal, reset }: AccountResetDeps): VaultAccountReset {
  const { http, signInAgain } = portal;
  return Object.freeze<VaultAccountReset>({
    status: async ({ signal } = {}) =>
      toResetStatus(await http.request("GET", path, AccountReset, signal === undefined ? {} : { signal })),
    request: async () => {
      await signInAgain();
      return toResetStatus(await http.request("POST", path, AccountReset));
    },
    end: async (reason) => toResetStatus(await http.request("DELETE", path, AccountReset, { query: { reason } })),
    complete: async ({ handle, name }, options) => {
      const picture = requirePresentedPicture(handle);
      await signInAgain();
      await reset({ presentedPicture: picture, name }, options);
    },
  });
}

function toResetStatus({
  state,
  asked_at: requestedAt,
  ready_at: readyAt,
  ended_at: endedAt,
  kept_until: retainedUntil,
}: AccountReset): AccountResetStatus {
  return { state, requestedAt, readyAt, endedAt, retainedUntil };
}
