import {
  KeyStatement,
  Me,
  ShareList,
  SharesWithMe,
  ShareStored,
  type ChangeShare,
  type CreateShare,
  type OwnShare,
} from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { z } from "zod";

/** The calls of whoever shares, or was given something. */
export interface ShareCalls {
  readonly create: (body: CreateShare, signal?: AbortSignal) => Promise<unknown>;
  readonly change: (shareId: string, body: ChangeShare, signal?: AbortSignal) => Promise<unknown>;
  /** `share_unavailable` when it is gone. */
  readonly revoke: (shareId: string, signal?: AbortSignal) => Promise<void>;
  /** Those of one secret, ended ones too. */
  readonly ofSecret: (secretId: string, signal?: AbortSignal) => Promise<readonly OwnShare[]>;
  readonly withMe: (ended: boolean, signal?: AbortSignal) => Promise<SharesWithMe["shares"]>;
  /** The key directory's word. `not_found` when nobody has that name, or has keys yet. */
  readonly keyOf: (userName: string, signal?: AbortSignal) => Promise<KeyStatement>;
  readonly me: (signal?: AbortSignal) => Promise<Me>;
}

export function shareCallsOn(http: Http): ShareCalls {
  const bySignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    create: (body, signal) => http.request("POST", "/share", ShareStored, { body, ...bySignal(signal) }),
    change: (shareId, body, signal) =>
      http.request("PATCH", `/share/${shareId}`, ShareStored, { body, ...bySignal(signal) }),
    revoke: async (shareId, signal) => {
      await http.request("DELETE", `/share/${shareId}`, z.unknown(), bySignal(signal));
    },
    ofSecret: async (secretId, signal) =>
      (
        await http.request("GET", `/sharelist/${secretId}`, ShareList, {
          query: { get_expired: true },
          ...bySignal(signal),
        })
      ).shares,
    withMe: async (ended, signal) =>
      (
        await http.request("GET", "/user/share-with-me", SharesWithMe, {
          query: { get_expired: ended },
          ...bySignal(signal),
        })
      ).shares,
    keyOf: (userName, signal) => http.request("GET", `/users/${userName}/key`, KeyStatement, bySignal(signal)),
    me: (signal) => http.request("GET", "/user/me", Me, bySignal(signal)),
  };
}
