import { maxFileNameLength } from "../api/index.ts";
import type { AccountResetStatus, VaultAccountReset } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { isValidText, throwIfInvalid, type FakeAccount } from "./fake-account.ts";
import type { RecordCall } from "./fake-call.ts";

export interface FakeAccountResetSettings {
  /** Initial state of a reset, by default `none`. The times follow from the state. */
  readonly accountReset?: AccountResetStatus["state"];
}

const noReset: AccountResetStatus = {
  state: "none",
  requestedAt: null,
  readyAt: null,
  endedAt: null,
  retainedUntil: null,
};
const [requestedAt, readyAt, endedAt, retainedUntil] = [
  "2026-11-10T09:00:00.000Z",
  "2026-11-17T09:00:00.000Z",
  "2026-11-18T09:00:00.000Z",
  "2026-12-18T09:00:00.000Z",
];

/**
 * Creates the account reset of the fake vault, in memory.
 *
 * @param clearOthers removes data of the fake vault outside the fake account
 */
export function createFakeAccountReset(
  { accountReset = "none" }: FakeAccountResetSettings,
  account: FakeAccount,
  recordCall: RecordCall,
  clearOthers: () => void,
): VaultAccountReset {
  let status = createStatus(accountReset);
  return Object.freeze<VaultAccountReset>({
    status: async (options) => {
      recordCall("accountReset.status", options);
      return Promise.resolve(status);
    },
    request: async () => {
      recordCall("accountReset.request");
      if (account.openers.length === 0) throw new PortalError("no_keyring");
      if (!isOpen(status)) status = createStatus("waiting");
      return Promise.resolve(status);
    },
    end: async (reason) => {
      recordCall("accountReset.end");
      if (isOpen(status)) status = createStatus(reason);
      return Promise.resolve(status);
    },
    complete: async ({ handle, name }, options) => {
      recordCall("accountReset.complete", options);
      account.resolvePicture(handle);
      throwIfInvalid({ name: !isValidText(name, maxFileNameLength) });
      if (status.state !== "ready") throw new PortalError("conflict");
      await account.resetTo(handle, name);
      clearOthers();
      status = createStatus("begun");
    },
  });
}

function isOpen({ state }: AccountResetStatus): boolean {
  return state === "waiting" || state === "ready";
}

function createStatus(state: AccountResetStatus["state"]): AccountResetStatus {
  if (state === "none") return noReset;
  return {
    state,
    requestedAt,
    readyAt,
    endedAt: state === "waiting" || state === "ready" ? null : endedAt,
    retainedUntil: state === "begun" ? retainedUntil : null,
  };
}
