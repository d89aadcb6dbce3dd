import { ShareClaim, ShareInfo, ShareOffer, type OpenShareBody } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";

/** The calls for opening a share. Those of a public link need no session. */
export interface ShareOpeningCalls {
  /** Returns the kind of the share. Needs no key and uses no view. */
  readonly inspect: (shareId: string, signal?: AbortSignal) => Promise<ShareInfo>;
  /** Returns who sent the share and what it requires. Uses no view. */
  readonly getOffer: (
    proof: Pick<OpenShareBody, "share_id" | "link_auth">,
    signal?: AbortSignal,
  ) => Promise<ShareOffer>;
  /**
   * Claims one view; idempotent by `claim_id`. Throws `wrong_password`, with the remaining
   * attempts.
   */
  readonly claim: (body: OpenShareBody & { readonly claim_id: string }, signal?: AbortSignal) => Promise<ShareClaim>;
}

export function createShareOpeningCalls(
  http: HttpClient,
  { isPublic }: { readonly isPublic: boolean },
): ShareOpeningCalls {
  const path = isPublic ? "/share/get-public-secret" : "/share/get-secret";
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    inspect: (shareId, signal) => http.request("POST", `${path}/${shareId}`, ShareInfo, signalOption(signal)),
    getOffer: (body, signal) => http.request("POST", path, ShareOffer, { body, ...signalOption(signal) }),
    claim: (body, signal) => http.request("POST", path, ShareClaim, { body, ...signalOption(signal) }),
  };
}
