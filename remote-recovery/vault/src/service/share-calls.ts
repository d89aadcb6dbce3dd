import {
  KeyStatement,
  Me,
  ShareList,
  ReceivedShares,
  ShareWriteResponse,
  type ChangeShareBody,
  type CreateShareBody,
  type OwnShare,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { z } from "zod";

/** The calls of whoever shares, or was given something. */
export interface ShareCalls {
  readonly create: (body: CreateShareBody, signal?: AbortSignal) => Promise<unknown>;
  readonly change: (shareId: string, body: ChangeShareBody, signal?: AbortSignal) => Promise<unknown>;
  /** `share_unavailable` when it is gone. */
  readonly revoke: (shareId: string, signal?: AbortSignal) => Promise<void>;
  /** Those of one secret, ended ones too. */
  readonly listOfSecret: (secretId: string, signal?: AbortSignal) => Promise<readonly OwnShare[]>;
  readonly listReceived: (includeEnded: boolean, signal?: AbortSignal) => Promise<ReceivedShares["shares"]>;
  /** The key directory's word. `not_found` when nobody has that name, or has keys yet. */
  readonly getKeyStatement: (userName: string, signal?: AbortSignal) => Promise<KeyStatement>;
  readonly getMe: (signal?: AbortSignal) => Promise<Me>;
}

export function createShareCalls(http: HttpClient): ShareCalls {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    create: (body, signal) => http.request("POST", "/share", ShareWriteResponse, { body, ...signalOption(signal) }),
    change: (shareId, body, signal) =>
      http.request("PATCH", `/share/${shareId}`, ShareWriteResponse, { body, ...signalOption(signal) }),
    revoke: async (shareId, signal) => {
      await http.request("DELETE", `/share/${shareId}`, z.unknown(), signalOption(signal));
    },
    listOfSecret: async (secretId, signal) =>
      (
        await http.request("GET", `/sharelist/${secretId}`, ShareList, {
          query: { get_expired: true },
          ...signalOption(signal),
        })
      ).shares,
    listReceived: async (ended, signal) =>
      (
        await http.request("GET", "/user/share-with-me", ReceivedShares, {
          query: { get_expired: ended },
          ...signalOption(signal),
        })
      ).shares,
    getKeyStatement: (userName, signal) =>
      http.request("GET", `/users/${userName}/key`, KeyStatement, signalOption(signal)),
    getMe: (signal) => http.request("GET", "/user/me", Me, signalOption(signal)),
  };
}
