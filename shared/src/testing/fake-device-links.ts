import { maxFileNameLength } from "../api/index.ts";
import type { VaultDeviceLinks } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { isValidText, getNewestVersion, throwIfInvalid, getKeySecret, type FakeAccount } from "./fake-account.ts";
import { resealAll } from "./fake-openers.ts";
import type { RecordCall } from "./fake-call.ts";
import { parseWords } from "./fake-words.ts";

export interface FakeDeviceLinksSettings {
  /** A new device that waits, and its code. By default there is none. */
  readonly requestingDevice?: { readonly code: string; readonly name: string };
}

export interface FakeDeviceLinks {
  readonly deviceLinks: VaultDeviceLinks;
  /** Approves this device's offer, as another device. */
  readonly approveElsewhere: () => void;
}

const offeredWords = "abandon ability able about above absent absorb abstract absurd abuse access accident".split(" ");

export function createFakeDeviceLinks(
  { requestingDevice }: FakeDeviceLinksSettings,
  account: FakeAccount,
  recordCall: RecordCall,
): FakeDeviceLinks {
  const waiters = new Set<() => void>();
  let offer = { credential: "", name: "" };
  let isApproved = false;

  const requireRequestingDevice = (code: string): NonNullable<typeof requestingDevice> => {
    const words = parseWords(code, 12, "device_code_unreadable");
    account.requireUnlocked();
    if (requestingDevice?.code !== words.join(" ")) throw new PortalError("device_link_unavailable");
    return requestingDevice;
  };
  /**
   * Approves the offer as another device does: the passkey becomes an opener of the account and of
   * all secrets.
   */
  const approve = ({ credential, name }: typeof offer): void => {
    const id = account.addOpener({ kind: "passkey", name, credential });
    for (const secret of account.secrets.values())
      if (!getNewestVersion(secret).openers.includes(id)) account.reseal(secret.secretId, (ids) => [...ids, id]);
  };
  const waitForApproval = (expiresAt: string, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isApproved) resolve();
      else if (Date.parse(expiresAt) <= Date.now()) reject(new PortalError("device_link_expired"));
      waiters.add(resolve);
      signal?.addEventListener("abort", () => {
        reject(new PortalError("cancelled"));
      });
    });

  return {
    approveElsewhere: () => {
      approve(offer);
      isApproved = true;
      for (const resolve of waiters) resolve();
    },
    deviceLinks: Object.freeze<VaultDeviceLinks>({
      offer: async ({ handle, name }, options) => {
        recordCall("deviceLinks.offer", options);
        const presentedOpener = account.resolve(handle);
        if (!("kind" in presentedOpener)) throw new PortalError("opener_needed");
        throwIfInvalid({ name: !isValidText(name, maxFileNameLength) });
        throwIfInvalid({ handle: presentedOpener.kind !== "passkey" });
        offer = { credential: getKeySecret(presentedOpener), name };
        isApproved = false;
        return Promise.resolve({ words: offeredWords, expiresAt: new Date(Date.now() + 5 * 60_000).toISOString() });
      },
      join: async ({ expiresAt }, handle, options) => {
        recordCall("deviceLinks.join", options);
        await waitForApproval(expiresAt, options?.signal);
        await account.presentHandle(handle);
      },
      inspect: async (code, options) => {
        recordCall("deviceLinks.inspect", options);
        const { name } = requireRequestingDevice(code);
        return Promise.resolve({
          name,
          secretCount: [...account.secrets.values()].filter(({ dropped }) => !dropped).length,
        });
      },
      approve: async (code, handle, options) => {
        recordCall("deviceLinks.approve", options);
        const { name } = requireRequestingDevice(code);
        const { id } = await account.presentHandle(handle);
        account.addOpener({ kind: "passkey", name, credential: "elsewhere" });
        return { ...resealAll(account, id, options), notified: true };
      },
    }),
  };
}
