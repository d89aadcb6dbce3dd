import { AccountReset } from "@relicario/shared/api";
import type { CallOptions, AccountResetStatus, VaultAccountReset } from "@relicario/shared/contract";

import { requirePresentedPicture, type PresentedPicture } from "../rpc/presented-opener.ts";
import type { VaultPortal } from "./vault-portal.ts";

interface AccountResetDeps {
  readonly portal: Pick<VaultPortal, "http" | "signInAgain">;
  readonly reset: (
    picture: { readonly presentedPicture: PresentedPicture; readonly name: string },
    options?: CallOptions,
  ) => Promise<void>;
}

const path = "/user/start-anew";

/**
 * Requesting and completing a reset start with a new sign-in, because browsers open its window only
 * directly from a click.
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
