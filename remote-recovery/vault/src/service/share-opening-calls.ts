import { ShareClaim, ShareInfo, ShareOffer, type OpenShareBody } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";

/** The calls of whoever opens a share. Those of a public link take no session. */
export interface ShareOpeningCalls {
  /** What kind of share it is; takes no key and costs nothing. */
  readonly inspect: (shareId: string, signal?: AbortSignal) => Promise<ShareInfo>;
  /** Who sent it, and what it asks for; costs nothing. */
  readonly getOffer: (
    proof: Pick<OpenShareBody, "share_id" | "link_auth">,
    signal?: AbortSignal,
  ) => Promise<ShareOffer>;
  /**
   * Claims one view. The same claim once more is the same view. `wrong_password`, with the tries
   * left.
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
