import type { CallOptions, ShownImage, VaultDeviceLinks } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { fakeWords } from "./fake-openers.ts";

export interface FakeDeviceLinksSettings {
  /** A new device that waits, and the code that it shows; none unless told otherwise. */
  readonly asking?: { readonly code: string; readonly name: string };
}

/** What device links need of the fake account. */
export interface AccountOfDeviceLinks {
  readonly enter: (member: `deviceLinks.${keyof VaultDeviceLinks}`, options?: CallOptions) => void;
  readonly requireUnlocked: () => void;
  readonly unlock: () => void;
  readonly showOpener: (shown: ShownImage | null) => Promise<void>;
  readonly addKey: (shown: ShownImage | null, name: string) => void;
  readonly secrets: () => readonly { readonly secretId: string }[];
}

export interface FakeDeviceLinks {
  readonly deviceLinks: VaultDeviceLinks;
  /** The device at hand answers what this one offers. */
  readonly admitElsewhere: () => void;
}

const offered = fakeWords.slice(0, 12);

/** Device links of the fake vault, in memory: the words of the fake recovery code are all that there are. */
export function createFakeDeviceLinks({ asking }: FakeDeviceLinksSettings, account: AccountOfDeviceLinks): FakeDeviceLinks {
  const waiting = new Set<() => void>();
  let name = "";
  const requireAsking = (code: string): NonNullable<typeof asking> => {
    const words = code.trim().toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length !== 12) throw new PortalError("device_code_unreadable", { details: { words: words.length } });
    const unknown = words.flatMap((word, index) => (fakeWords.includes(word) ? [] : [String(index + 1)]));
    if (unknown.length > 0) throw new PortalError("device_code_unreadable", { details: { unknown } });
    account.requireUnlocked();
    if (asking?.code !== words.join(" ")) throw new PortalError("device_link_unavailable");
    return asking;
  };
  return {
    admitElsewhere: () => {
      for (const answer of waiting) answer();
    },
    deviceLinks: Object.freeze<VaultDeviceLinks>({
      offer: (made, options) => {
        account.enter("deviceLinks.offer", options);
        name = made.name;
        return Promise.resolve({ words: offered, expiresAt: new Date(Date.now() + 5 * 60_000).toISOString() });
      },
      join: async (_offer, shown, options) => {
        account.enter("deviceLinks.join", options);
        await new Promise<void>((resolve, reject) => {
          waiting.add(resolve);
          options?.signal?.addEventListener("abort", () => {
            reject(new PortalError("cancelled"));
          });
        });
        account.addKey(shown, name);
        account.unlock();
      },
      look: async (code, options) => {
        account.enter("deviceLinks.look", options);
        return Promise.resolve({ name: requireAsking(code).name, secrets: account.secrets().length });
      },
      admit: async (code, opener, options) => {
        account.enter("deviceLinks.admit", options);
        const device = requireAsking(code);
        await account.showOpener(opener);
        const secrets = account.secrets();
        for (const index of secrets.keys()) options?.onProgress?.({ phase: "sealing", done: index, total: secrets.length });
        account.addKey(null, device.name);
        return { covered: secrets.length, left: [], answered: true };
      },
    }),
  };
}
