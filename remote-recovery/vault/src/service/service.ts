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
import { readPages } from "./read-pages.ts";
import { createRequestCalls, type RequestCalls } from "./request-calls.ts";
import { createShareOpeningCalls, type ShareOpeningCalls } from "./share-opening-calls.ts";
import { createShareCalls, type ShareCalls } from "./share-calls.ts";
import { createTransferCalls, type TransferCalls } from "../transfer/upload-calls.ts";

/** One version of a secret, with the records of all its versions. */
export type StoredVersion = Omit<SecretContent, "next_cursor">;

/** The calls that transport sealed bytes. They parse the responses; callers verify the contents. */
export interface Service {
  /**
   * Returns null if there is none yet. With `statesSince`, includes the whole chain of later
   * states.
   */
  readonly getKeyring: (statesSince: number | null, signal?: AbortSignal) => Promise<Keyring | null>;
  readonly getImageRecords: (signal?: AbortSignal) => Promise<readonly ImageRecord[]>;
  /** With `since`, includes only changes after that value of the account's change counter. */
  readonly getListPage: (
    position: { readonly cursor: string | null; readonly since: number | null },
    signal?: AbortSignal,
  ) => Promise<SecretPage>;
  readonly store: (body: StoreSecretBody, signal?: AbortSignal) => Promise<StoreSecretResponse>;
  /** Stores new secrets with one keyring change, all or none. */
  readonly storeBatch: (body: StoreSecretsBody, signal?: AbortSignal) => Promise<StoreSecretsResponse>;
  /** @param version null for the newest one */
  readonly getSecret: (secretId: string, version: number | null, signal?: AbortSignal) => Promise<StoredVersion>;
  /** Includes removed versions. */
  readonly getVersions: (secretId: string, signal?: AbortSignal) => Promise<readonly VersionRecord[]>;
  /** Sends a keyring change without rows. */
  readonly changeKeyring: (change: KeyringChange, signal?: AbortSignal) => Promise<void>;
  /**
   * Stages resealed rows, which stay invisible until a keyring change switches to them. Idempotent.
   */
  readonly stage: (stageId: string, rows: readonly StagedRow[], signal?: AbortSignal) => Promise<void>;
  /** Returns a page of digests of staged rows. Throws `not_found` if there is no such stage. */
  readonly getStagedRows: (stageId: string, cursor: string | null, signal?: AbortSignal) => Promise<StageManifest>;
  readonly setFavorite: (secretId: string, favorite: boolean) => Promise<StoredSecret>;
  readonly trash: (secretId: string) => Promise<void>;
  readonly deviceLinks: DeviceLinkCalls;
  readonly requests: RequestCalls;
  readonly shares: ShareCalls;
  /** Calls that open shares for this account. */
  readonly shareOpening: ShareOpeningCalls;
  readonly content: Pick<TransferCalls, "range">;
}

export function createService(http: HttpClient): Service {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  const getVersions = (secretId: string, signal?: AbortSignal): Promise<readonly VersionRecord[]> =>
    readPages(async (cursor) => {
      const page = await http.request("GET", `/secrets/store/${secretId}/versions`, SecretVersions, {
        ...(cursor === undefined ? {} : { query: { cursor } }),
        ...signalOption(signal),
      });
      return { rows: page.versions, nextCursor: page.next_cursor, stateRev: page.state_rev };
    });

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
        // undefined if there are no more states; verifying the chain detects a gap
        lastRev = nextStates[nextStates.length - 1]?.state_rev;
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
    getSecret: async (secretId, version, signal) => {
      const body = { secret_db_id: secretId, ...(version === null ? {} : { version }) };
      const { next_cursor: nextCursor, ...storedVersion } = await http.request(
        "POST",
        "/secrets/store/get-secret",
        SecretContent,
        { body, ...signalOption(signal) },
      );
      return nextCursor === null
        ? storedVersion
        : { ...storedVersion, versions: [...(await getVersions(secretId, signal))] };
    },
    getVersions,
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
    shareOpening: createShareOpeningCalls(http, { isPublic: false }),
    content: createTransferCalls(http),
  };
}
