import "fake-indexeddb/auto";

import type { PortalForServices, OpenerHandle, NewShareInput } from "@relicario/shared/contract";

import { examine } from "../operations/examine.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { unlock } from "../openers/unlock.ts";
import { presentPicture } from "../rpc/presented-opener.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { createWorld, makePicture, makePictureHandle, textSecret, userId, type World } from "../testing/world.ts";
import { createVaultClient } from "../page/vault-client.ts";

unrefMessagePorts();

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
let accountCount = 0;

/** The vault as other remotes have it. */
function createPageVault() {
  const service = createFakeService(userId);
  const account = { userId, issuer: "https://id.example", subject: `shown ${String(accountCount++)}` };
  const portal: PortalForServices = {
    http: service.http,
    vendorId: "relicario",
    account,
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    takeLinkSecret: () => Promise.resolve(null),
  };
  return {
    service,
    vault: createVaultClient(portal, createChannelWorkers(), { environment: createFakeMachine().tab() }),
  };
}

/** Everything that a script finds on an object without being told a name. */
function reachableValues(value: object): unknown[] {
  const values: unknown[] = [];
  for (
    let current: object | null = value;
    current !== null && current !== Object.prototype;
    current = Object.getPrototypeOf(current) as object | null
  ) {
    for (const name of Reflect.ownKeys(current)) if (name !== "constructor") values.push(Reflect.get(current, name));
  }
  return values;
}

describe("a remote that is handed a shown picture", () => {
  it("reads neither its bytes nor its passphrase", async () => {
    const handle = presentPicture(makePicture("market", "four words"));
    expect(reachableValues(handle)).toEqual(["OpenerHandle"]); // its name for consoles
    expect(JSON.stringify(handle)).toBe("{}");
    expect(Object.isFrozen(handle)).toBe(true);
    expect(structuredClone(handle)).toEqual({});
    const { vault } = createPageVault();
    await vault.protect(textSecret("First", handle));
    expect(reachableValues(handle)).toEqual(["OpenerHandle"]); // its name for consoles
  });

  const shareRequest: NewShareInput = {
    secretId: userId,
    to: { audience: "public" },
    expiresAt: "2026-01-01T00:00:00Z",
    maxViews: null,
    password: null,
    picture: null,
    notify: false,
  };
  const operations: [
    string,
    (vault: ReturnType<typeof createPageVault>["vault"], handle: OpenerHandle) => Promise<unknown>,
  ][] = [
    ["unlock", (vault, handle) => vault.unlock(handle)],
    ["recover", (vault, handle) => vault.openSecret(userId, handle)],
    ["restoreVersion", (vault, handle) => vault.restoreVersion(userId, 1, handle)],
    ["exportSecrets", (vault, handle) => vault.exportSecrets([userId], handle)],
    ["createKit", (vault, handle) => vault.createKit([userId], handle)],
    ["rotate, among others", (vault, handle) => vault.openers.rotate([makePictureHandle("market"), handle])],
    ["replaceImage", (vault, handle) => vault.openers.replaceImage(makePictureHandle("market"), { handle, name: "n" })],
    [
      "the picture of a share",
      (vault, handle) => vault.shares.create({ ...shareRequest, picture: handle }, makePictureHandle("market")),
    ],
    ["protect", (vault, handle) => vault.protect(textSecret("Its own", handle))],
    [
      "update",
      (vault, handle) =>
        vault.update(userId, {
          baseVersion: 1,
          content: textSecret("Its own"),
          protection: { kind: "picture", picture: handle, name: "n" },
        }),
    ],
  ];
  it.each(operations)(
    "has no picture of its own tried by %s, in the shape of one or as a copy of a handle",
    async (_name, operation) => {
      const { service, vault } = createPageVault();
      const forged = { ...makePicture("market"), [Symbol.toStringTag]: "OpenerHandle" } as const;
      await expect(operation(vault, forged)).rejects.toEqual(errorWithCode("picture_needed"));
      await expect(operation(vault, structuredClone(makePictureHandle("market")))).rejects.toEqual(
        errorWithCode("picture_needed"),
      );
      expect(service.calls).toEqual([]);
    },
  );

  it("does not go on with it after its form has ended, a lock, or a sign-out", async () => {
    const { vault } = createPageVault();
    const [ended, locked, signedOut] = [
      makePictureHandle("market"),
      makePictureHandle("market"),
      makePictureHandle("market"),
    ];
    await vault.protect(textSecret("First", ended));
    vault.releaseOpener(ended);
    await expect(vault.unlock(ended)).rejects.toEqual(errorWithCode("picture_needed"));
    await vault.unlock(locked);
    await vault.lock();
    await expect(vault.unlock(locked)).rejects.toEqual(errorWithCode("picture_needed"));
    await vault.signOut();
    await expect(vault.unlock(signedOut)).rejects.toEqual(errorWithCode("picture_needed"));
  });
});

describe("whoever looks at the memory of the vault after an act", () => {
  /** The arrays that the vault handed to the engine: its own copies of the picture. */
  function watchEngineInputs(world: World): Uint8Array[] {
    const copies: Uint8Array[] = [];
    for (const member of ["inspect", "enrol", "recover"] as const) {
      const original = world.engine[member] as (picture: Uint8Array, ...rest: unknown[]) => Promise<never>;
      Object.assign(world.engine, {
        [member]: (picture: Uint8Array, ...rest: unknown[]) => {
          if (!copies.includes(picture)) copies.push(picture);
          // else it was no picture, and what follows would prove nothing
          expect(picture.some((byte) => byte !== 0)).toBe(true);
          return original(picture, ...rest);
        },
      });
    }
    return copies;
  }

  it("finds no picture there, whether the act did what was asked or not", async () => {
    const world = createWorld();
    const copies = watchEngineInputs(world);
    const laptop = await world.open();
    const { secretId } = await protect(laptop, textSecret("First", makePicture("market", "four words")), {});
    await examine(laptop, makePicture("market").picture, {});
    await openSmallSecret(laptop, secretId, makePicture("market", "four words"), {});
    await expect(unlock(await world.open("phone"), makePicture("market", "another"), {})).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    await expect(protect(laptop, textSecret("Second", makePicture("plain-wall")), {})).rejects.toEqual(
      errorWithCode("picture_too_plain"),
    );
    expect(copies.length).toBeGreaterThanOrEqual(5);
    expect(copies.filter((picture) => picture.some((byte) => byte !== 0))).toEqual([]);
  });
});

describe("whoever types a passphrase for a picture in use", () => {
  async function createAccountWithPicture(passphrase: string | null) {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market", passphrase)), {});
    return { world, laptop };
  }

  it("is not left to believe that it protects, where the picture has none", async () => {
    const { world, laptop } = await createAccountWithPicture(null);
    await expect(
      protect(laptop, textSecret("Second", makePicture("market/small", "one that it does not have")), {}),
    ).rejects.toEqual(errorWithCode("picture_has_no_passphrase"));
    expect(world.service.account.rows.size).toBe(1);
    await protect(laptop, textSecret("Second", makePicture("market/small", "")), {});
    expect(world.service.account.rows.size).toBe(2);
  });

  it.each([
    ["another one", "four word"],
    ["none", null],
    ["one with a space behind", "four words "],
  ])("is refused with %s where the picture has one, and goes on with the right one", async (_case, passphrase) => {
    const { world, laptop } = await createAccountWithPicture("four words");
    await expect(protect(laptop, textSecret("Second", makePicture("market", passphrase)), {})).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    expect(world.service.account.rows.size).toBe(1);
    const { secretId } = await protect(laptop, textSecret("Second", makePicture("market", "four words")), {});
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await openSmallSecret(laptop, secretId, makePicture("market", "four words"), {})).title).toBe("Second");
  });

  it("is told before whether it has one", async () => {
    const plain = await createAccountWithPicture(null);
    expect((await examine(plain.laptop, makePicture("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      passphrase: "none",
    });
    const encrypted = await createAccountWithPicture("four words");
    expect((await examine(encrypted.laptop, makePicture("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      passphrase: "needed",
    });
  });

  it("does not have a helper that the service swapped tell which", async () => {
    const { world, laptop } = await createAccountWithPicture("four words");
    const otherWorld = createWorld();
    await protect(await otherWorld.open(), textSecret("Other", makePicture("market")), {});
    const [record] = world.service.account.keyring?.imageRecords ?? [];
    const [plain] = otherWorld.service.account.keyring?.imageRecords ?? [];
    if (record === undefined || plain === undefined) throw new Error("no image record");
    Object.assign(record, { helper: plain.helper });
    await expect(examine(laptop, makePicture("market").picture, {})).rejects.toEqual(errorWithCode("helper_changed"));
    await expect(protect(laptop, textSecret("Second", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("helper_changed"),
    );
  });
});
