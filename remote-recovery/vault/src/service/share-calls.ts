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

import { readPages } from "./read-pages.ts";

/** The calls of a share's sender and its recipient. */
export interface ShareCalls {
  readonly create: (body: CreateShareBody, signal?: AbortSignal) => Promise<unknown>;
  readonly change: (shareId: string, body: ChangeShareBody, signal?: AbortSignal) => Promise<unknown>;
  /** Throws `share_unavailable` if the share no longer exists. */
  readonly revoke: (shareId: string, signal?: AbortSignal) => Promise<void>;
  /** Includes ended shares. */
  readonly listOfSecret: (secretId: string, signal?: AbortSignal) => Promise<readonly OwnShare[]>;
  readonly listReceived: (includeEnded: boolean, signal?: AbortSignal) => Promise<ReceivedShares["shares"]>;
  /** Reads the key directory. Throws `not_found` for an unknown user, or one without keys. */
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
    listOfSecret: (secretId, signal) =>
      readPages(async (cursor) => {
        const page = await http.request("GET", `/sharelist/${secretId}`, ShareList, {
          query: { get_expired: true, ...(cursor === undefined ? {} : { cursor }) },
          ...signalOption(signal),
        });
        return { rows: page.shares, nextCursor: page.next_cursor, stateRev: page.state_rev };
      }),
    listReceived: (includeEnded, signal) =>
      readPages(async (cursor) => {
        const page = await http.request("GET", "/user/share-with-me", ReceivedShares, {
          query: { get_expired: includeEnded, ...(cursor === undefined ? {} : { cursor }) },
          ...signalOption(signal),
        });
        return { rows: page.shares, nextCursor: page.next_cursor, stateRev: page.state_rev };
      }),
    getKeyStatement: (userName, signal) =>
      http.request("GET", `/users/${userName}/key`, KeyStatement, signalOption(signal)),
    getMe: (signal) => http.request("GET", "/user/me", Me, signalOption(signal)),
  };
}
