import {
  ImageRecords,
  Keyring,
  KeyringChangeResponse,
  StageRowsResponse,
  SecretContent,
  SecretPage,
  StoreSecretsResponse,
  StoreSecretResponse,
  SecretVersions,
  StageManifest,
  StoredSecret,
  type ImageRecord,
  type KeyringChange,
  type StagedRow,
  type StoreSecretBody,
  type StoreSecretsBody,
  type VersionRecord,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { z } from "zod";

import { createDeviceLinkCalls, type DeviceLinkCalls } from "./link-calls.ts";
import { createRequestCalls, type RequestCalls } from "./request-calls.ts";
import { createShareOpeningCalls, type ShareOpeningCalls } from "./share-opening-calls.ts";
import { createShareCalls, type ShareCalls } from "./share-calls.ts";
import { createTransferCalls, type TransferCalls } from "../transfer/upload-calls.ts";

/**
 * The calls that carry sealed bytes. Answers are parsed here; what they say is checked by
 * operations and their parts.
 */
export interface Service {
  /**
   * Null when there is none yet. With `statesSince`, the chain of states after that one too, all
   * that the service gives piece by piece.
   */
  readonly getKeyring: (statesSince: number | null, signal?: AbortSignal) => Promise<Keyring | null>;
  readonly getImageRecords: (signal?: AbortSignal) => Promise<readonly ImageRecord[]>;
  /** With `since` only what changed after that value of the account's counter. */
  readonly getListPage: (
    position: { readonly cursor: string | null; readonly since: number | null },
    signal?: AbortSignal,
  ) => Promise<SecretPage>;
  readonly store: (body: StoreSecretBody, signal?: AbortSignal) => Promise<StoreSecretResponse>;
  /** New secrets with one keyring change, all of them or none. */
  readonly storeBatch: (body: StoreSecretsBody, signal?: AbortSignal) => Promise<StoreSecretsResponse>;
  /** A version by number; null for the newest. */
  readonly getSecret: (secretId: string, version: number | null, signal?: AbortSignal) => Promise<SecretContent>;
  /** A line for every version that there ever was. */
  readonly getVersions: (secretId: string, signal?: AbortSignal) => Promise<readonly VersionRecord[]>;
  /** A keyring change alone. */
  readonly changeKeyring: (change: KeyringChange, signal?: AbortSignal) => Promise<void>;
  /**
   * Rows sealed anew, which show nowhere before a keyring change switches to them. The same rows
   * once more change nothing.
   */
  readonly stage: (stageId: string, rows: readonly StagedRow[], signal?: AbortSignal) => Promise<void>;
  /** A page of the digests of what is staged. `not_found` without such a stage. */
  readonly getStagedRows: (stageId: string, cursor: string | null, signal?: AbortSignal) => Promise<StageManifest>;
  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<StoredSecret>;
  readonly trash: (secretId: string) => Promise<void>;
  readonly deviceLinks: DeviceLinkCalls;
  readonly requests: RequestCalls;
  readonly shares: ShareCalls;
  /** Opening what somebody shared with this account. */
  readonly opening: ShareOpeningCalls;
  /** Sealed contents, in ranges. */
  readonly content: Pick<TransferCalls, "range">;
}

export function createService(http: HttpClient): Service {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };

  return {
    getKeyring: async (statesSince, signal) => {
      const fetchKeyring = (since: number | null): Promise<Keyring | null> => {
        const query = { or_none: true, ...(since === null ? {} : { states_since: since }) };
        return http.request("GET", "/user/keyring", Keyring.nullable(), { query, ...signalOption(signal) });
      };
      const keyring = await fetchKeyring(statesSince);
      if (keyring?.states === undefined) return keyring;
      const states = [...keyring.states];
      let lastRev = states[states.length - 1]?.state_rev;
      while (lastRev !== undefined && lastRev < keyring.state_rev) {
        const previousRev = lastRev;
        const nextStates = ((await fetchKeyring(previousRev))?.states ?? []).filter(
          ({ state_rev: rev }) => rev > previousRev && rev <= keyring.state_rev,
        );
        states.push(...nextStates);
        lastRev = nextStates[nextStates.length - 1]?.state_rev; // none: whoever follows the chain finds the gap
      }
      return { ...keyring, states };
    },
    getImageRecords: async (signal) =>
      (await http.request("GET", "/user/image-records", ImageRecords, signalOption(signal))).image_records,
    getListPage: ({ cursor, since }, signal) => {
      const query = { ...(cursor === null ? {} : { cursor }), ...(since === null ? {} : { since }) };
      return http.request("GET", "/secrets/store", SecretPage, { query, ...signalOption(signal) });
    },
    store: (body, signal) =>
      http.request("POST", "/secrets/store", StoreSecretResponse, { body, ...signalOption(signal) }),
    storeBatch: (body, signal) =>
      http.request("POST", "/secrets/store/batch", StoreSecretsResponse, { body, ...signalOption(signal) }),
    getSecret: (secretId, version, signal) => {
      const body = { secret_db_id: secretId, ...(version === null ? {} : { version }) };
      return http.request("POST", "/secrets/store/get-secret", SecretContent, { body, ...signalOption(signal) });
    },
    getVersions: async (secretId, signal) =>
      (await http.request("GET", `/secrets/store/${secretId}/versions`, SecretVersions, signalOption(signal))).versions,
    changeKeyring: async (change, signal) => {
      await http.request("PUT", "/user/keyring", KeyringChangeResponse, { body: change, ...signalOption(signal) });
    },
    stage: async (stageId, rows, signal) => {
      await http.request("POST", "/user/keyring/stage", StageRowsResponse, {
        body: { stage_id: stageId, rows: [...rows] },
        ...signalOption(signal),
      });
    },
    getStagedRows: (stageId, cursor, signal) =>
      http.request("GET", `/user/keyring/stage/${stageId}`, StageManifest, {
        ...(cursor === null ? {} : { query: { cursor } }),
        ...signalOption(signal),
      }),
    setFavorite: (secretId, favorite) =>
      http.request("PATCH", "/secrets/favorite", StoredSecret, { body: { secret_db_id: secretId, favorite } }),
    trash: async (secretId) => {
      await http.request("DELETE", `/secrets/store/${secretId}`, z.unknown());
    },
    deviceLinks: createDeviceLinkCalls(http),
    requests: createRequestCalls(http),
    shares: createShareCalls(http),
    opening: createShareOpeningCalls(http, { isPublic: false }),
    content: createTransferCalls(http),
  };
}
