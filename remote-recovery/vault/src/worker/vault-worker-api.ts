import type { Engine } from "@relicario/engine";
import { createCallClient } from "@relicario/engine/worker-calls";
import type { DeviceAccount, VaultState } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { openDevice, type Device } from "../device/device.ts";
import { compareImport } from "../imports/compare-import.ts";
import { importSecrets } from "../imports/import-secrets.ts";
import { acceptOlderState } from "../keyring/refresh-keyring.ts";
import type { KitDeps } from "../operations/create-kit.ts";
import { examine } from "../operations/examine.ts";
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
import { openVaultSession, type VaultSession } from "../session/vault-session.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import { createLazyEngine } from "./lazy-engine.ts";
import { createRefreshedList } from "./refreshed-list.ts";
import { createUploadDeps } from "./upload-deps.ts";
import { createVaultOperations, type VaultOperations } from "./vault-operations.ts";

export interface VaultSettings extends DeviceAccount {
  readonly userId: string;
  /** Starts locked, whatever the device keeps. */
  readonly locked: boolean;
  /** Of the portal, without a slash at its end: links begin with it. */
  readonly origin: string;
}

/** What the page answers to the vault's worker. */
export interface VaultPage extends PageHttp {
  /**
   * Called before each call to the engine; its port is connected when this is answered.
   * `vault_unavailable`.
   */
  readonly startEngine: () => Promise<void>;
  /** Bytes of a file of the release that goes into kits. `vault_unavailable`. */
  readonly kitFile: KitDeps["file"];
  /** Called after each change of the state. */
  readonly onStateChange: (state: VaultState) => void;
}

interface StartedVault {
  readonly vault: VaultSession;
  readonly uploads: UploadDeps;
  readonly operations: VaultOperations;
}

/** What the vault's worker offers. */
export type VaultWorkerApi = ReturnType<typeof createVaultWorkerApi>;

/**
 * @param connectEngine how the worker reaches the engine on a port; it and the device are seams for
 *   tests
 */
export function createVaultWorkerApi(
  connectEngine: (port: MessagePort) => Engine,
  openAccountDevice: (account: DeviceAccount) => Promise<Device> = openDevice,
) {
  let started: StartedVault | null = null;
  let lastNotification: Promise<unknown> = Promise.resolve();
  const refreshedList = createRefreshedList();
  const openedContents = createOpenedContentStore(() => requireStarted().uploads.calls);

  function requireStarted(): StartedVault {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  /**
   * An operation on the vault of this worker. The page hears of a new state before the operation is
   * answered.
   */
  function operation<Arguments extends readonly unknown[], Result>(
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
    /** Answers when the worker runs. */
    ping: () => undefined,

    /** Once, before any other call. The page answers at `pagePort`, the engine at `enginePort`. */
    start: async (
      { userId, locked, origin, ...account }: VaultSettings,
      pagePort: MessagePort,
      enginePort: MessagePort,
    ): Promise<void> => {
      const page = createCallClient<VaultPage>(pagePort);
      const http = createHttpOverPage(page);
      const device = await openAccountDevice(account);
      sweepPrivateFiles().catch(() => undefined); // tried again with the next page
      const vault = await openVaultSession({
        userId,
        locked,
        service: createService(http),
        engine: createLazyEngine(page.startEngine, connectEngine(enginePort)),
        device,
        onStateChange: (state) => {
          // a listener of the page that throws is no failure of the operation
          lastNotification = page.onStateChange(state).catch(() => undefined);
        },
      });
      const uploads = createUploadDeps(device.name, createTransferCalls(http));
      const { kitFile } = page;
      const operations = createVaultOperations({ uploads, kitFile, refreshedList, openedContents, origin });
      started = { vault, uploads, operations };
    },

    /** Runs one of the contract's operations, by its name there: see vault-operations.ts. */
    run: operation(
      (vault, path: readonly string[], handles: PresentedHandles, ...args: readonly unknown[]): Promise<unknown> => {
        receiveHandles(handles);
        return findOperation(requireStarted().operations, path)(vault, ...args);
      },
    ),

    // What follows only the page's own code asks for. It shows pictures, not handles.
    list: operation(refreshedList.list),
    examine: operation(examine),
    protect: operation(protect),
    update: operation(update),
    resetAccount: operation(resetAccount),
    acceptOlderState: operation(acceptOlderState),
    compareImport: operation(compareImport),
    importSecrets: operation(importSecrets),
    beginUpload: operation((vault, plan: UploadPlan, options?: OperationOptions) =>
      beginUpload(vault, requireStarted().uploads, plan, options),
    ),
    finishUpload: operation((vault, uploadId: string, protection: Protection | null, options?: OperationOptions) =>
      finishUpload(vault, requireStarted().uploads, uploadId, protection, options),
    ),
    restartUpload: operation(
      (
        vault,
        uploadId: string,
        file: { readonly size: number; readonly handle: FileSystemFileHandle | null },
        options?: OperationOptions,
      ) => restartUpload(vault, requireStarted().uploads, uploadId, file, options),
    ),
    discardUpload: operation((_vault, uploadId: string) => discardUpload(requireStarted().uploads, uploadId)),

    ...openedContents.calls,
  };
}

type AnyOperation = (vault: VaultSession, ...args: readonly unknown[]) => Promise<unknown>;

/**
 * The page does not know the list, so a name that is in nobody's contract ends here.
 *
 * @throws PortalError `forbidden`.
 */
function findOperation(operations: object, path: readonly string[]): AnyOperation {
  let found: unknown = operations;
  for (const name of path)
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined;
  if (!isOperation(found)) throw new PortalError("forbidden");
  return found;
}

/** Its arguments are those of the contract, to which page and list are held by their types. */
function isOperation(value: unknown): value is AnyOperation {
  return typeof value === "function";
}
