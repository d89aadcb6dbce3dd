import { ShareClaimed, ShareLook, ShareOffer, type OpenShare } from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";

/** The calls of whoever opens a share. Those of a public link take no session. */
export interface OpenCalls {
  /** What kind of share it is; takes no key and costs nothing. */
  readonly look: (shareId: string, signal?: AbortSignal) => Promise<ShareLook>;
  /** Who sent it, and what it asks for; costs nothing. */
  readonly offer: (proof: Pick<OpenShare, "share_id" | "link_auth">, signal?: AbortSignal) => Promise<ShareOffer>;
  /**
   * Claims one view. The same claim once more is the same view. `wrong_password`, with the tries
   * left.
   */
  readonly claim: (body: OpenShare & { readonly claim_id: string }, signal?: AbortSignal) => Promise<ShareClaimed>;
}

export function openCallsOn(http: Http, { isPublic }: { readonly isPublic: boolean }): OpenCalls {
  const path = isPublic ? "/share/get-public-secret" : "/share/get-secret";
  const bySignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    look: (shareId, signal) => http.request("POST", `${path}/${shareId}`, ShareLook, bySignal(signal)),
    offer: (body, signal) => http.request("POST", path, ShareOffer, { body, ...bySignal(signal) }),
    claim: (body, signal) => http.request("POST", path, ShareClaimed, { body, ...bySignal(signal) }),
  };
}
