import { PositiveInt, Digest, maxSmallContentBytes } from "@relicario/shared/api";
import {
  autoLockMinutes,
  type CallOptions,
  type DeviceAccount,
  type PortalForServices,
  type SecretRow,
  type Vault,
} from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { archiveDeviceRecord, readDeviceRecord } from "../device/device.ts";
import { pageEnvironment, type PageEnvironment } from "../device/idle-lock.ts";
import type { PictureVerdict } from "../operations/examine.ts";
import { releaseOpener, resolveChange, resolveProtection } from "../rpc/presented-opener.ts";
import { callRunning, createCallWorker } from "../rpc/call-running.ts";
import { collectHandles } from "../rpc/opener-handles.ts";
import type { VaultOperations } from "../worker/vault-operations.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import { browserWorkers, type WorkerStarter } from "./browser-workers.ts";
import { createOpenedContent, isTransferred } from "./opened-content.ts";
import { withOperations } from "./operation-members.ts";
import { createTransfers } from "./transfer-client.ts";
import { createVaultAccountReset } from "./vault-account-reset.ts";
import { createVaultImports } from "./vault-imports.ts";
import { createVaultWorker } from "./vault-worker.ts";

export type { PictureVerdict };

/** Judges the bytes of a picture: for the recovery area alone. */
export type ExaminePicture = (picture: Blob, options?: CallOptions) => Promise<PictureVerdict>;

/** The contract's vault but for what it draws, and what the recovery area alone may ask of it. */
export interface VaultClient extends Omit<Vault, "PictureField"> {
  readonly examine: ExaminePicture;
}

/** The vault of one sign-in, as others are given it; `examine` is not for them. */
export async function createVault(
  portal: PortalForServices,
  PictureField: Vault["PictureField"],
): Promise<{ readonly vault: Vault; readonly examine: ExaminePicture }> {
  const { issuer, subject } = portal.account;
  const minutes = await loadAutoLockMinutes({ vendorId: portal.vendorId, issuer, subject });
  const { members, examine, callOperation } = createMembers(portal, browserWorkers, {
    environment: pageEnvironment,
    minutes,
  });
  return { vault: withOperations<Vault>({ ...members, PictureField }, [], callOperation), examine };
}

/** A record that cannot be read is told by the first act, which the person can answer. */
async function loadAutoLockMinutes(account: DeviceAccount): Promise<number> {
  try {
    return (await readDeviceRecord(account)).autoLockMinutes;
  } catch (error) {
    if (isPortalError(error, "device_record_unreadable")) return autoLockMinutes.default;
    throw error;
  }
}

/** What an `older_state` says of the state that it is about. */
const OlderStateDetails = z.looseObject({ given: PositiveInt, given_sha256: Digest });

/** What a client takes from the page and the device. */
export interface PageDeps {
  readonly environment: PageEnvironment;
  /** Until the vault locks itself. */
  readonly minutes?: number;
}

/** The contract's vault over its workers, on the page. */
export function createVaultClient(portal: PortalForServices, workers: WorkerStarter, deps: PageDeps): VaultClient {
  const { members, examine, callOperation } = createMembers(portal, workers, deps);
  return withOperations<VaultClient>({ ...members, examine }, [], callOperation);
}

/** Members of the contract that are one operation each, and groups of such. */
type OperationName = {
  [Name in keyof VaultOperations]: VaultOperations[Name] extends (...args: never) => unknown ? Name : never;
}[keyof VaultOperations];
type GroupName = Exclude<keyof VaultOperations, OperationName>;

/** What the page does of the contract; what is left is in the worker's list of operations. */
type PageMembers = Omit<Vault, "PictureField" | OperationName>;

interface Members {
  readonly members: PageMembers;
  readonly examine: ExaminePicture;
  readonly callOperation: (path: readonly string[], args: readonly unknown[]) => Promise<unknown>;
}

function createMembers(
  portal: PortalForServices,
  workers: WorkerStarter,
  { environment, minutes = autoLockMinutes.default }: PageDeps,
): Members {
  const { vendorId, http } = portal;
  const { issuer, subject } = portal.account;
  const account = { vendorId, issuer, subject };
  const vaultWorker = createVaultWorker({ portal, workers, environment, minutes, getTransfers: () => transfers });
  const callWorker = createCallWorker<VaultWorkerApi>(vaultWorker.ensure);
  const transfers = createTransfers({
    account,
    http,
    startWorker: workers.transfer,
    operations: {
      begin: callWorker((worker) => worker.beginUpload),
      finish: callWorker((worker) => worker.finishUpload),
      restart: callWorker((worker) => worker.restartUpload),
      discard: callWorker((worker) => worker.discardUpload),
      waitUntilUnlocked: vaultWorker.waitUntilUnlocked,
    },
  });

  /** An operation of the worker's list. */
  async function callOperation(path: readonly string[], args: readonly unknown[]): Promise<unknown> {
    const handles = collectHandles(args); // first: a forgotten one reaches no worker
    return callRunning(vaultWorker.ensure, args, async (running) => {
      const answer: unknown = await running.remote.run(path, handles, ...args);
      return isTransferred(answer) ? createOpenedContent(answer, running, transfers) : answer;
    });
  }

  const operations = withOperations<Pick<Vault, OperationName>>({}, [], callOperation);
  const group = <Name extends GroupName>(name: Name): Vault[Name] =>
    withOperations<Vault[Name]>({}, [name], callOperation);

  const list = callWorker((worker) => worker.list);
  const protect = callWorker((worker) => worker.protect);
  const update = callWorker((worker) => worker.update);
  const acceptOlderState = callWorker((worker) => worker.acceptOlderState);

  const members: PageMembers = {
    getState: vaultWorker.getState,
    subscribe: vaultWorker.subscribe,
    autoLock: vaultWorker.autoLock,
    lock: vaultWorker.lock,
    signOut: vaultWorker.signOut,
    unlockBySignIn: async () => {
      if (await vaultWorker.unlockBySignIn()) await operations.refresh();
    },
    list: async (options) => {
      const newestFirst: SecretRow[] = [];
      await list({
        ...options,
        onRows: (rows, progress) => {
          newestFirst.push(...rows);
          options?.onRows?.(rows, progress);
        },
      });
      return newestFirst.reverse();
    },
    protect: async (input, options) => {
      const request = { ...input, protection: resolveProtection(input.protection) };
      return request.content.size > maxSmallContentBytes
        ? transfers.protect(request, options)
        : protect(request, options);
    },
    update: async (secretId, input, options) => {
      const change = resolveChange(input);
      const { content } = change;
      return content !== undefined && content.content.size > maxSmallContentBytes
        ? transfers.update(secretId, { ...change, content }, options)
        : update(secretId, change, options);
    },
    resumeUpload: async (uploadId, file, { protection, ...options } = {}) =>
      transfers.resume(uploadId, file, protection === undefined ? null : resolveProtection(protection), options),
    restartUpload: transfers.restart,
    discardUpload: transfers.discard,
    acceptOlderState: async ({ details }) => {
      const parsedDetails = OlderStateDetails.safeParse(details);
      if (parsedDetails.success)
        await acceptOlderState({
          stateRev: parsedDetails.data.given,
          stateSha256: parsedDetails.data.given_sha256,
        });
    },
    archiveDeviceRecord: async () => {
      await vaultWorker.end();
      await archiveDeviceRecord(account);
      await operations.refresh();
    },
    releaseOpener,
    imports: createVaultImports({
      compare: callWorker((worker) => worker.compareImport),
      importSecrets: callWorker((worker) => worker.importSecrets),
      setFavorite: operations.setFavorite,
      startReader: workers.importReader,
      transfers,
    }),
    accountReset: createVaultAccountReset({ portal, reset: callWorker((worker) => worker.resetAccount) }),
    openers: group("openers"),
    deviceLinks: group("deviceLinks"),
    shares: group("shares"),
    people: group("people"),
    received: group("received"),
    requests: group("requests"),
  };
  return { members, examine: callWorker((worker) => worker.examine), callOperation };
}
