import {
  ImageRecords,
  Keyring,
  KeyringChanged,
  RowsStaged,
  SecretContent,
  SecretPage,
  SecretsStored,
  SecretStored,
  SecretVersions,
  StagedRows,
  StoredSecret,
  type ImageRecord,
  type KeyringChange,
  type StagedRow,
  type StoreSecret,
  type StoreSecrets,
  type VersionLine,
} from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { z } from "zod";

import { deviceLinkCallsOn, type DeviceLinkCalls } from "./device-links/link-calls.ts";
import { requestCallsOn, type RequestCalls } from "./requests/request-calls.ts";
import { openCallsOn, type OpenCalls } from "./shares/open-calls.ts";
import { shareCallsOn, type ShareCalls } from "./shares/share-calls.ts";
import { transferCallsOn, type TransferCalls } from "./transfer/upload-calls.ts";

/**
 * The calls that carry sealed bytes. Answers are parsed here; what they say is checked by acts and
 * steps.
 */
export interface Service {
  /**
   * Null when there is none yet. With `statesSince`, the chain of states after that one too, all
   * that the service gives piece by piece.
   */
  readonly keyring: (statesSince: number | null, signal?: AbortSignal) => Promise<Keyring | null>;
  readonly imageRecords: (signal?: AbortSignal) => Promise<readonly ImageRecord[]>;
  /** With `since` only what changed after that value of the account's counter. */
  readonly page: (
    at: { readonly cursor: string | null; readonly since: number | null },
    signal?: AbortSignal,
  ) => Promise<SecretPage>;
  readonly store: (body: StoreSecret, signal?: AbortSignal) => Promise<SecretStored>;
  /** New secrets with one keyring change, all of them or none. */
  readonly storeBatch: (body: StoreSecrets, signal?: AbortSignal) => Promise<SecretsStored>;
  /** A version by number; null for the newest. */
  readonly secret: (secretId: string, version: number | null, signal?: AbortSignal) => Promise<SecretContent>;
  /** A line for every version that there ever was. */
  readonly versions: (secretId: string, signal?: AbortSignal) => Promise<readonly VersionLine[]>;
  /** A keyring change alone. */
  readonly changeKeyring: (change: KeyringChange, signal?: AbortSignal) => Promise<void>;
  /**
   * Rows sealed anew, which show nowhere before a keyring change switches to them. The same rows
   * once more change nothing.
   */
  readonly stage: (stageId: string, rows: readonly StagedRow[], signal?: AbortSignal) => Promise<void>;
  /** A page of the digests of what is staged. `not_found` without such a stage. */
  readonly staged: (stageId: string, cursor: string | null, signal?: AbortSignal) => Promise<StagedRows>;
  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<StoredSecret>;
  readonly trash: (secretId: string) => Promise<void>;
  readonly deviceLinks: DeviceLinkCalls;
  readonly requests: RequestCalls;
  readonly shares: ShareCalls;
  /** Opening what somebody shared with this account. */
  readonly opening: OpenCalls;
  /** Sealed contents, in ranges. */
  readonly content: Pick<TransferCalls, "range">;
}

export function serviceOn(http: Http): Service {
  const bySignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };

  return {
    keyring: async (statesSince, signal) => {
      const read = (since: number | null): Promise<Keyring | null> => {
        const query = { or_none: true, ...(since === null ? {} : { states_since: since }) };
        return http.request("GET", "/user/keyring", Keyring.nullable(), { query, ...bySignal(signal) });
      };
      const keyring = await read(statesSince);
      if (keyring?.states === undefined) return keyring;
      const states = [...keyring.states];
      let reached = states[states.length - 1]?.state_rev;
      while (reached !== undefined && reached < keyring.state_rev) {
        const last = reached;
        const more = ((await read(last))?.states ?? []).filter(
          ({ state_rev: rev }) => rev > last && rev <= keyring.state_rev,
        );
        states.push(...more);
        reached = more[more.length - 1]?.state_rev; // none: whoever follows the chain finds the gap
      }
      return { ...keyring, states };
    },
    imageRecords: async (signal) =>
      (await http.request("GET", "/user/image-records", ImageRecords, bySignal(signal))).image_records,
    page: ({ cursor, since }, signal) => {
      const query = { ...(cursor === null ? {} : { cursor }), ...(since === null ? {} : { since }) };
      return http.request("GET", "/secrets/store", SecretPage, { query, ...bySignal(signal) });
    },
    store: (body, signal) => http.request("POST", "/secrets/store", SecretStored, { body, ...bySignal(signal) }),
    storeBatch: (body, signal) =>
      http.request("POST", "/secrets/store/batch", SecretsStored, { body, ...bySignal(signal) }),
    secret: (secretId, version, signal) => {
      const body = { secret_db_id: secretId, ...(version === null ? {} : { version }) };
      return http.request("POST", "/secrets/store/get-secret", SecretContent, { body, ...bySignal(signal) });
    },
    versions: async (secretId, signal) =>
      (await http.request("GET", `/secrets/store/${secretId}/versions`, SecretVersions, bySignal(signal))).versions,
    changeKeyring: async (change, signal) => {
      await http.request("PUT", "/user/keyring", KeyringChanged, { body: change, ...bySignal(signal) });
    },
    stage: async (stageId, rows, signal) => {
      await http.request("POST", "/user/keyring/stage", RowsStaged, {
        body: { stage_id: stageId, rows: [...rows] },
        ...bySignal(signal),
      });
    },
    staged: (stageId, cursor, signal) =>
      http.request("GET", `/user/keyring/stage/${stageId}`, StagedRows, {
        ...(cursor === null ? {} : { query: { cursor } }),
        ...bySignal(signal),
      }),
    setFavorite: (secretId, favorite) =>
      http.request("PATCH", "/secrets/favorite", StoredSecret, { body: { secret_db_id: secretId, favorite } }),
    trash: async (secretId) => {
      await http.request("DELETE", `/secrets/store/${secretId}`, z.unknown());
    },
    deviceLinks: deviceLinkCallsOn(http),
    requests: requestCallsOn(http),
    shares: shareCallsOn(http),
    opening: openCallsOn(http, { isPublic: false }),
    content: transferCallsOn(http),
  };
}
