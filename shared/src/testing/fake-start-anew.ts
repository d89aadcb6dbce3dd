import { maxFileNameLength } from "../api/index.ts";
import type { StartAnewStatus, VaultStartAnew } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { isText, refuseFields, type FakeAccount } from "./fake-account.ts";
import type { Enter } from "./fake-call.ts";

export interface FakeStartAnewSettings {
  /** Where starting anew stands; `none` unless told otherwise. Times follow from it. */
  readonly startAnew?: StartAnewStatus["state"];
}

const none: StartAnewStatus = { state: "none", askedAt: null, readyAt: null, endedAt: null, keptUntil: null };
const [askedAt, readyAt, endedAt, keptUntil] = [
  "2026-11-10T09:00:00.000Z",
  "2026-11-17T09:00:00.000Z",
  "2026-11-18T09:00:00.000Z",
  "2026-12-18T09:00:00.000Z",
];

/** Starting anew of the fake vault, in memory. @param forget what else of before goes */
export function createFakeStartAnew(
  { startAnew = "none" }: FakeStartAnewSettings,
  account: FakeAccount,
  enter: Enter,
  forget: () => void,
): VaultStartAnew {
  let status = at(startAnew);
  return Object.freeze<VaultStartAnew>({
    status: async (options) => {
      enter("startAnew.status", options);
      return Promise.resolve(status);
    },
    ask: async () => {
      enter("startAnew.ask");
      if (account.openers.length === 0) throw new PortalError("no_keyring");
      if (!isOpen(status)) status = at("waiting");
      return Promise.resolve(status);
    },
    end: async (reason) => {
      enter("startAnew.end");
      if (isOpen(status)) status = at(reason);
      return Promise.resolve(status);
    },
    begin: async ({ shown, name }, options) => {
      enter("startAnew.begin", options);
      account.resolvePicture(shown);
      refuseFields({ name: !isText(name, maxFileNameLength) });
      if (status.state !== "ready") throw new PortalError("conflict");
      await account.begin(shown, name);
      forget();
      status = at("begun");
    },
  });
}

function isOpen({ state }: StartAnewStatus): boolean {
  return state === "waiting" || state === "ready";
}

function at(state: StartAnewStatus["state"]): StartAnewStatus {
  if (state === "none") return none;
  return {
    state,
    askedAt,
    readyAt,
    endedAt: state === "waiting" || state === "ready" ? null : endedAt,
    keptUntil: state === "begun" ? keptUntil : null,
  };
}
