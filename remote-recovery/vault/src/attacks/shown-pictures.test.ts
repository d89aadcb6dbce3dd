import "fake-indexeddb/auto";

import type { PortalForServices, ShownImage } from "@relicario/shared/contract";

import { examine } from "../acts/examine.ts";
import { protect } from "../acts/protect.ts";
import { recover } from "../acts/recover.ts";
import { unlock } from "../acts/unlock.ts";
import { showPicture } from "../shown-image.ts";
import { channelWorkers, leavePortsUnwaited } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { createWorld, shown, shownHandle, textSecret, userId, type World } from "../testing/world.ts";
import { createVaultClient } from "../worker/vault-client.ts";

leavePortsUnwaited();

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
let person = 0;

/** The vault as other remotes have it. */
function pageVault() {
  const service = createFakeService(userId);
  const account = { userId, issuer: "https://id.example", subject: `shown ${String(person++)}` };
  const portal: PortalForServices = {
    http: service.http,
    vendorId: "relicario",
    account,
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };
  return { service, vault: createVaultClient(portal, channelWorkers(), { surroundings: createFakeMachine().tab() }) };
}

/** Everything that a script finds on an object without being told a name. */
function found(value: object): unknown[] {
  const all: unknown[] = [];
  for (
    let at: object | null = value;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    for (const name of Reflect.ownKeys(at)) if (name !== "constructor") all.push(Reflect.get(at, name));
  }
  return all;
}

describe("a remote that is handed a shown picture", () => {
  it("reads neither its bytes nor its passphrase", async () => {
    const handle = showPicture(shown("market", "four words"));
    expect(found(handle)).toEqual(["ShownImage"]); // its name for consoles
    expect(JSON.stringify(handle)).toBe("{}");
    expect(Object.isFrozen(handle)).toBe(true);
    expect(structuredClone(handle)).toEqual({});
    const { vault } = pageVault();
    await vault.protect(textSecret("First", handle));
    expect(found(handle)).toEqual(["ShownImage"]); // its name for consoles
  });

  const acts: [string, (vault: ReturnType<typeof pageVault>["vault"], handle: ShownImage) => Promise<unknown>][] = [
    ["unlock", (vault, handle) => vault.unlock(handle)],
    ["recover", (vault, handle) => vault.recover(userId, handle)],
    ["restoreVersion", (vault, handle) => vault.restoreVersion(userId, 1, handle)],
    ["exportSecrets", (vault, handle) => vault.exportSecrets([userId], handle)],
    ["protect", (vault, handle) => vault.protect(textSecret("Its own", handle))],
    [
      "update",
      (vault, handle) =>
        vault.update(userId, {
          baseVersion: 1,
          content: textSecret("Its own"),
          protection: { kind: "picture", shown: handle, name: "n" },
        }),
    ],
  ];
  it.each(acts)(
    "has no picture of its own tried by %s, in the shape of one or as a copy of a handle",
    async (_name, act) => {
      const { service, vault } = pageVault();
      const forged = { ...shown("market"), [Symbol.toStringTag]: "ShownImage" } as const;
      await expect(act(vault, forged)).rejects.toEqual(code("picture_needed"));
      await expect(act(vault, structuredClone(shownHandle("market")))).rejects.toEqual(code("picture_needed"));
      expect(service.calls).toEqual([]);
    },
  );

  it("does not go on with it after its form has ended, a lock, or a sign-out", async () => {
    const { vault } = pageVault();
    const [ended, locked, left] = [shownHandle("market"), shownHandle("market"), shownHandle("market")];
    await vault.protect(textSecret("First", ended));
    vault.forgetShown(ended);
    await expect(vault.unlock(ended)).rejects.toEqual(code("picture_needed"));
    await vault.unlock(locked);
    await vault.lock();
    await expect(vault.unlock(locked)).rejects.toEqual(code("picture_needed"));
    await vault.signOut();
    await expect(vault.unlock(left)).rejects.toEqual(code("picture_needed"));
  });
});

describe("whoever looks at the memory of the vault after an act", () => {
  /** The arrays that the vault handed to the engine: its own copies of the picture. */
  function watched(world: World): Uint8Array[] {
    const copies: Uint8Array[] = [];
    for (const member of ["inspect", "enrol", "recover"] as const) {
      const real = world.engine[member] as (picture: Uint8Array, ...rest: unknown[]) => Promise<never>;
      Object.assign(world.engine, {
        [member]: (picture: Uint8Array, ...rest: unknown[]) => {
          if (!copies.includes(picture)) copies.push(picture);
          // else it was no picture, and what follows would prove nothing
          expect(picture.some((byte) => byte !== 0)).toBe(true);
          return real(picture, ...rest);
        },
      });
    }
    return copies;
  }

  it("finds no picture there, whether the act did what was asked or not", async () => {
    const world = createWorld();
    const copies = watched(world);
    const laptop = await world.open();
    const { secretId } = await protect(laptop, textSecret("First", shown("market", "four words")), {});
    await examine(laptop, shown("market").picture, {});
    await recover(laptop, secretId, shown("market", "four words"), {});
    await expect(unlock(await world.open("phone"), shown("market", "another"), {})).rejects.toEqual(
      code("not_this_picture_or_passphrase"),
    );
    await expect(protect(laptop, textSecret("Second", shown("plain-wall")), {})).rejects.toEqual(
      code("picture_too_plain"),
    );
    expect(copies.length).toBeGreaterThanOrEqual(5);
    expect(copies.filter((picture) => picture.some((byte) => byte !== 0))).toEqual([]);
  });
});

describe("whoever types a passphrase for a picture in use", () => {
  async function used(passphrase: string | null) {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market", passphrase)), {});
    return { world, laptop };
  }

  it("is not left to believe that it protects, where the picture has none", async () => {
    const { world, laptop } = await used(null);
    await expect(
      protect(laptop, textSecret("Second", shown("market/small", "one that it does not have")), {}),
    ).rejects.toEqual(code("picture_has_no_passphrase"));
    expect(world.service.account.rows.size).toBe(1);
    await protect(laptop, textSecret("Second", shown("market/small", "")), {});
    expect(world.service.account.rows.size).toBe(2);
  });

  it.each([
    ["another one", "four word"],
    ["none", null],
    ["one with a space behind", "four words "],
  ])("is refused with %s where the picture has one, and goes on with the right one", async (_what, passphrase) => {
    const { world, laptop } = await used("four words");
    await expect(protect(laptop, textSecret("Second", shown("market", passphrase)), {})).rejects.toEqual(
      code("not_this_picture_or_passphrase"),
    );
    expect(world.service.account.rows.size).toBe(1);
    const { secretId } = await protect(laptop, textSecret("Second", shown("market", "four words")), {});
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await recover(laptop, secretId, shown("market", "four words"), {})).title).toBe("Second");
  });

  it("is told before whether it has one", async () => {
    const plain = await used(null);
    expect((await examine(plain.laptop, shown("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      passphrase: "none",
    });
    const encrypted = await used("four words");
    expect((await examine(encrypted.laptop, shown("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      passphrase: "needed",
    });
  });

  it("does not have a helper that the service swapped tell which", async () => {
    const { world, laptop } = await used("four words");
    const other = createWorld();
    await protect(await other.open(), textSecret("Other", shown("market")), {});
    const [record] = world.service.account.keyring?.imageRecords ?? [];
    const [plain] = other.service.account.keyring?.imageRecords ?? [];
    if (record === undefined || plain === undefined) throw new Error("no image record");
    Object.assign(record, { helper: plain.helper });
    await expect(examine(laptop, shown("market").picture, {})).rejects.toEqual(code("helper_changed"));
    await expect(protect(laptop, textSecret("Second", shown("market")), {})).rejects.toEqual(code("helper_changed"));
  });
});
