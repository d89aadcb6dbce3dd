import type { CallOptions, ShownImage, StartAnewStatus, VaultStartAnew } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";

export interface FakeStartAnewSettings {
  /** Where starting anew stands; `none` unless told otherwise. Times follow from it. */
  readonly startAnew?: StartAnewStatus["state"];
}

interface AccountOfStartAnew {
  readonly enter: (member: `startAnew.${keyof VaultStartAnew}`, options?: CallOptions) => void;
  readonly isEmpty: () => boolean;
  /** Everything of before goes, and this picture is the one opener. */
  readonly beginWith: (shown: ShownImage, name: string) => Promise<void>;
}

const none: StartAnewStatus = { state: "none", askedAt: null, readyAt: null, endedAt: null, keptUntil: null };
const [askedAt, readyAt, endedAt, keptUntil] = ["2026-11-10T09:00:00.000Z", "2026-11-17T09:00:00.000Z", "2026-11-18T09:00:00.000Z", "2026-12-18T09:00:00.000Z"];

/** Starting anew of the fake vault, in memory. */
export function createFakeStartAnew({ startAnew = "none" }: FakeStartAnewSettings, account: AccountOfStartAnew): VaultStartAnew {
  let status = at(startAnew);
  return Object.freeze<VaultStartAnew>({
    status: async (options) => {
      account.enter("startAnew.status", options);
      return Promise.resolve(status);
    },
    ask: async () => {
      account.enter("startAnew.ask");
      if (account.isEmpty()) throw new PortalError("no_keyring");
      if (!isOpen(status)) status = at("waiting");
      return Promise.resolve(status);
    },
    end: async (reason) => {
      account.enter("startAnew.end");
      if (isOpen(status)) status = at(reason);
      return Promise.resolve(status);
    },
    begin: async ({ shown, name }, options) => {
      account.enter("startAnew.begin", options);
      if (status.state !== "ready") throw new PortalError("conflict");
      await account.beginWith(shown, name);
      status = at("begun");
    },
  });
}

function isOpen({ state }: StartAnewStatus): boolean {
  return state === "waiting" || state === "ready";
}

function at(state: StartAnewStatus["state"]): StartAnewStatus {
  if (state === "none") return none;
  return { state, askedAt, readyAt, endedAt: state === "waiting" || state === "ready" ? null : endedAt, keptUntil: state === "begun" ? keptUntil : null };
}
