import { maxFileNameLength } from "../api/index.ts";
import type { VaultDeviceLinks } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { isText, newestOf, refuseFields, secretOf, type FakeAccount } from "./fake-account.ts";
import { coverAll } from "./fake-openers.ts";
import type { Enter } from "./fake-call.ts";
import { wordsIn } from "./fake-words.ts";

export interface FakeDeviceLinksSettings {
  /** A new device that waits, and the code that it shows; none unless told otherwise. */
  readonly asking?: { readonly code: string; readonly name: string };
}

export interface FakeDeviceLinks {
  readonly deviceLinks: VaultDeviceLinks;
  /** The device at hand answers what this one offers. */
  readonly admitElsewhere: () => void;
}

const offeredWords = "abandon ability able about above absent absorb abstract absurd abuse access accident".split(" ");

/** Device links of the fake vault, in memory. */
export function createFakeDeviceLinks(
  { asking }: FakeDeviceLinksSettings,
  account: FakeAccount,
  enter: Enter,
): FakeDeviceLinks {
  const waiting = new Set<() => void>();
  let offered = { secret: "", name: "" };
  let isAdmitted = false;

  const requireAsking = (code: string): NonNullable<typeof asking> => {
    const words = wordsIn(code, 12, "device_code_unreadable");
    account.requireUnlocked();
    if (asking?.code !== words.join(" ")) throw new PortalError("device_link_unavailable");
    return asking;
  };
  /** What the device at hand does: the passkey becomes an opener, and opens everything. */
  const admit = ({ secret, name }: typeof offered): void => {
    const id = account.addOpener({ kind: "passkey", name, secret });
    for (const secret of account.secrets.values())
      if (!newestOf(secret).openers.includes(id)) account.seal(secret.secretId, (ids) => [...ids, id]);
  };
  const admitted = (until: string, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isAdmitted) resolve();
      else if (Date.parse(until) <= Date.now()) reject(new PortalError("device_link_expired"));
      waiting.add(resolve);
      signal?.addEventListener("abort", () => {
        reject(new PortalError("cancelled"));
      });
    });

  return {
    admitElsewhere: () => {
      admit(offered);
      isAdmitted = true;
      for (const answer of waiting) answer();
    },
    deviceLinks: Object.freeze<VaultDeviceLinks>({
      offer: async ({ shown, name }, options) => {
        enter("deviceLinks.offer", options);
        const made = account.resolve(shown);
        if (!("kind" in made)) throw new PortalError("opener_needed");
        refuseFields({ name: !isText(name, maxFileNameLength) });
        refuseFields({ shown: made.kind !== "passkey" });
        offered = { secret: secretOf(made), name };
        isAdmitted = false;
        return Promise.resolve({ words: offeredWords, expiresAt: new Date(Date.now() + 5 * 60_000).toISOString() });
      },
      join: async ({ expiresAt }, shown, options) => {
        enter("deviceLinks.join", options);
        await admitted(expiresAt, options?.signal);
        await account.show(shown);
      },
      look: async (code, options) => {
        enter("deviceLinks.look", options);
        const { name } = requireAsking(code);
        return Promise.resolve({
          name,
          secrets: [...account.secrets.values()].filter(({ dropped }) => !dropped).length,
        });
      },
      admit: async (code, shown, options) => {
        enter("deviceLinks.admit", options);
        const { name } = requireAsking(code);
        const { id } = await account.show(shown);
        account.addOpener({ kind: "passkey", name, secret: "elsewhere" });
        return { ...coverAll(account, id, options), answered: true };
      },
    }),
  };
}
