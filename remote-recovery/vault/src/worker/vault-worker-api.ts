import type { Engine } from "@relicario/engine";
import { createCallClient } from "@relicario/engine/worker-calls";
import type { DeviceAccount, VaultState } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { openDevice, type Device } from "../device/device.ts";
import { compareImport } from "../imports/compare-import.ts";
import { importSecrets } from "../imports/import-secrets.ts";
import { acceptOlderState } from "../keyring/refresh-keyring.ts";
import type { KitDeps } from "../operations/create-kit.ts";
import { examinePicture } from "../operations/examine.ts";
import { acknowledgeMark, readMark } from "../operations/mark.ts";
import { generateRecoveryCode } from "../operations/openers.ts";
import { protect } from "../operations/protect.ts";
import { resetAccount } from "../operations/reset-account.ts";
import {
  beginUpload,
  discardUpload,
  finishUpload,
  restartUpload,
  type Protection,
  type UploadDeps,
  type UploadPlan,
} from "../operations/resumable-uploads.ts";
import { update } from "../operations/update.ts";
import { receiveHandles, type PresentedHandles } from "../rpc/opener-handles.ts";
import { createHttpOverPage, type PageHttp } from "../rpc/page-http.ts";
import { createService } from "../service/service.ts";
import { createOpenedContentStore } from "../transfer/opened-content-store.ts";
import { sweepPrivateFiles } from "../transfer/sinks.ts";
import { createTransferCalls } from "../transfer/upload-calls.ts";
import { openVaultSession, type EstimateStrength, type VaultSession } from "../session/vault-session.ts";
import type { MarkQuestion } from "../seal/mark.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import { createLazyEngine } from "./lazy-engine.ts";
import { createRefreshedList } from "./refreshed-list.ts";
import { createUploadDeps } from "./upload-deps.ts";
import { createVaultOperations, type VaultOperations } from "./vault-operations.ts";

export interface VaultSettings extends DeviceAccount {
  readonly userId: string;
  /** Starts locked even if the device has keys. */
  readonly locked: boolean;
  /** Origin of the portal, without a trailing slash; prefix of links. */
  readonly origin: string;
}

/** The vault worker's calls to the page. */
export interface VaultPage extends PageHttp {
  /**
   * Called before each engine call; resolves when the port is connected. Throws
   * `vault_unavailable`.
   */
  readonly startEngine: () => Promise<void>;
  /** Starts a worker with the dictionaries. Throws `vault_unavailable`. */
  readonly estimateStrength: EstimateStrength;
  /** Fetches a file of the release for kits. Throws `vault_unavailable`. */
  readonly kitFile: KitDeps["loadReleaseFile"];
  readonly onStateChange: (state: VaultState) => void;
  /** Until when a presented opener is kept, in milliseconds since 1970; null if it is not kept. */
  readonly keepOpenerUntil: () => Promise<number | null>;
  /** Asks the person whether the mark is theirs. Throws `cancelled`. */
  readonly confirmMark: (question: MarkQuestion) => Promise<boolean>;
}

interface StartedVault {
  readonly vault: VaultSession;
  readonly uploads: UploadDeps;
  readonly operations: VaultOperations;
}

export type VaultWorkerApi = ReturnType<typeof createVaultWorkerApi>;

/**
 * @param connectEngine creates a client of the engine at a port; tests replace it and the device
 */
export function createVaultWorkerApi(
  connectEngine: (port: MessagePort) => Engine,
  openAccountDevice: (account: DeviceAccount) => Promise<Device> = openDevice,
) {
  let startedVault: StartedVault | null = null;
  let lastNotification: Promise<unknown> = Promise.resolve();
  const refreshedList = createRefreshedList();
  const openedContents = createOpenedContentStore(() => requireStarted().uploads.calls);

  function requireStarted(): StartedVault {
    if (startedVault === null) throw new PortalError("vault_unavailable");
    return startedVault;
  }

  /** Wraps an operation so that the page receives a new state before the result. */
  function createOperation<Arguments extends readonly unknown[], Result>(
    run: (vault: VaultSession, ...args: Arguments) => Promise<Result>,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => {
      try {
        return await run(requireStarted().vault, ...args);
      } finally {
        await lastNotification;
      }
    };
  }

  return {
    /** Resolves when the worker runs. */
    ping: () => undefined,

    /**
     * Called once, before any other call.
     *
     * @param pagePort port at which the page serves {@link VaultPage}
     * @returns whether the device had metadata keys; the worker then has them in every state
     */
    start: async (
      { userId, locked, origin, ...account }: VaultSettings,
      pagePort: MessagePort,
      enginePort: MessagePort,
    ): Promise<boolean> => {
      const page = createCallClient<VaultPage>(pagePort);
      const http = createHttpOverPage(page);
      const device = await openAccountDevice(account);
      sweepPrivateFiles().catch(() => undefined); // the next page retries
      const vault = await openVaultSession({
        userId,
        locked,
        service: createService(http),
        engine: createLazyEngine(page.startEngine, connectEngine(enginePort)),
        estimateStrength: page.estimateStrength,
        device,
        onStateChange: (state) => {
          // an error of the page's listener must not fail the operation
          lastNotification = page.onStateChange(state).catch(() => undefined);
        },
        confirmMark: page.confirmMark,
        keepOpenerUntil: page.keepOpenerUntil,
      });
      const uploads = createUploadDeps(device.storageKey, createTransferCalls(http));
      const { kitFile } = page;
      const operations = createVaultOperations({ uploads, kitFile, refreshedList, openedContents, origin });
      startedVault = { vault, uploads, operations };
      return vault.keys !== null;
    },

    /** Runs an operation of the contract by its name, see vault-operations.ts. */
    run: createOperation(
      (vault, path: readonly string[], handles: PresentedHandles, ...args: readonly unknown[]): Promise<unknown> => {
        receiveHandles(handles);
        return findOperation(requireStarted().operations, path)(vault, ...args);
      },
    ),

    // only for the vault's own frames and code; the portal's page cannot name them
    list: createOperation(refreshedList.list),
    examine: createOperation(examinePicture),
    readMark: createOperation(readMark),
    acknowledgeMark: createOperation(acknowledgeMark),
    releaseKeptOpener: () => {
      requireStarted().vault.releaseKeptOpener();
    },
    generateRecoveryCode,
    protect: createOperation(protect),
    update: createOperation(update),
    resetAccount: createOperation(resetAccount),
    acceptOlderState: createOperation(acceptOlderState),
    compareImport: createOperation(compareImport),
    importSecrets: createOperation(importSecrets),
    beginUpload: createOperation((vault, plan: UploadPlan, options?: OperationOptions) =>
      beginUpload(vault, requireStarted().uploads, plan, options),
    ),
    finishUpload: createOperation(
      (vault, uploadId: string, protection: Protection | null, options?: OperationOptions) =>
        finishUpload(vault, requireStarted().uploads, uploadId, protection, options),
    ),
    restartUpload: createOperation(
      (
        vault,
        uploadId: string,
        file: { readonly size: number; readonly handle: FileSystemFileHandle | null },
        options?: OperationOptions,
      ) => restartUpload(vault, requireStarted().uploads, uploadId, file, options),
    ),
    discardUpload: createOperation((_vault, uploadId: string) => discardUpload(requireStarted().uploads, uploadId)),

    ...openedContents.calls,
  };
}

type AnyOperation = (vault: VaultSession, ...args: readonly unknown[]) => Promise<unknown>;

/**
 * Refuses names that are not operations, because the page passes any name on.
 *
 * @throws PortalError `forbidden`
 */
function findOperation(operations: object, path: readonly string[]): AnyOperation {
  let candidate: unknown = operations;
  for (const name of path)
    candidate =
      typeof candidate === "object" && candidate !== null && Object.hasOwn(candidate, name)
        ? Reflect.get(candidate, name)
        : undefined;
  if (!isOperation(candidate)) throw new PortalError("forbidden");
  return candidate;
}

/** The types of page and list ensure that the arguments match the contract. */
function isOperation(value: unknown): value is AnyOperation {
  return typeof value === "function";
}
