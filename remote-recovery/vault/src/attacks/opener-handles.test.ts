import "fake-indexeddb/auto";

import type { OpenerHandle, NewShareInput } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { examinePicture } from "../operations/examine.ts";
import { protect } from "../operations/protect.ts";
import { openSmallSecret } from "../operations/open-secret.ts";
import { unlock } from "../openers/unlock.ts";
import { presentPicture } from "../rpc/presented-opener.ts";
import { createChannelWorkers, unrefMessagePorts } from "../testing/channel-workers.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { createWorld, makePicture, makePictureHandle, textSecret, userId, type World } from "../testing/world.ts";
import { createVaultClient } from "../page/vault-client.ts";
import type { VaultPortal } from "../page/vault-portal.ts";

unrefMessagePorts();

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
let accountCount = 0;

/** The vault that other remotes receive. */
function createPageVault() {
  const service = createFakeService(userId);
  const account = { userId, issuer: "https://id.example", subject: `shown ${String(accountCount++)}` };
  const portal: VaultPortal = {
    http: service.http,
    vendorId: "relicario",
    account,
    signInAgain: () => Promise.resolve({ authTime: 0 }),
    signInToUnlock: () => Promise.resolve({ authTime: 0 }),
    signInSilently: () => Promise.reject(new PortalError("login_required")),
    confirmMark: () => Promise.resolve(true),
    takeLinkSecret: () => Promise.resolve(null),
  };
  return {
    service,
    vault: createVaultClient(portal, createChannelWorkers(), { environment: createFakeMachine().openTab() }),
  };
}

/** All values that a script can reach from an object by listing keys. */
function listReachableValues(value: object): unknown[] {
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

describe("a remote with the handle of a presented picture", () => {
  it("reads neither its bytes nor its passphrase", async () => {
    const handle = presentPicture(makePicture("market", "four words"));
    expect(listReachableValues(handle)).toEqual(["OpenerHandle"]); // only the name that consoles print
    expect(JSON.stringify(handle)).toBe("{}");
    expect(Object.isFrozen(handle)).toBe(true);
    expect(structuredClone(handle)).toEqual({});
    const { vault } = createPageVault();
    await vault.protect(textSecret("First", handle));
    expect(listReachableValues(handle)).toEqual(["OpenerHandle"]); // only the name that consoles print
  });

  const shareInput: NewShareInput = {
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
      (vault, handle) => vault.shares.create({ ...shareInput, picture: handle }, makePictureHandle("market")),
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
  it.each(operations)("cannot make %s try a picture with a forged or a cloned handle", async (_name, operation) => {
    const { service, vault } = createPageVault();
    const forgedHandle = { ...makePicture("market"), [Symbol.toStringTag]: "OpenerHandle" } as const;
    await expect(operation(vault, forgedHandle)).rejects.toEqual(errorWithCode("picture_needed"));
    await expect(operation(vault, structuredClone(makePictureHandle("market")))).rejects.toEqual(
      errorWithCode("picture_needed"),
    );
    expect(service.calls).toEqual([]);
  });

  it("cannot use the handle after a release, a lock or a sign-out", async () => {
    const { vault } = createPageVault();
    const [releasedHandle, lockedHandle, signedOutHandle] = [
      makePictureHandle("market"),
      makePictureHandle("market"),
      makePictureHandle("market"),
    ];
    await vault.protect(textSecret("First", releasedHandle));
    vault.releaseOpener(releasedHandle);
    await expect(vault.unlock(releasedHandle)).rejects.toEqual(errorWithCode("picture_needed"));
    await vault.unlock(lockedHandle);
    await vault.lock();
    await expect(vault.unlock(lockedHandle)).rejects.toEqual(errorWithCode("picture_needed"));
    await vault.signOut();
    await expect(vault.unlock(signedOutHandle)).rejects.toEqual(errorWithCode("picture_needed"));
  });
});

describe("the memory of the vault after an operation", () => {
  /** Collects the arrays that the vault passes to the engine: its own copies of the picture. */
  function watchEngineInputs(world: World): Uint8Array[] {
    const copies: Uint8Array[] = [];
    for (const member of ["inspect", "enrol", "recover"] as const) {
      const originalMethod = world.engine[member] as (picture: Uint8Array, ...rest: unknown[]) => Promise<never>;
      Object.assign(world.engine, {
        [member]: (picture: Uint8Array, ...rest: unknown[]) => {
          if (!copies.includes(picture)) copies.push(picture);
          // guards this test: a copy that was always zero would prove nothing
          expect(picture.some((byte) => byte !== 0)).toBe(true);
          return originalMethod(picture, ...rest);
        },
      });
    }
    return copies;
  }

  it("contains no picture, whether the operation succeeded or failed", async () => {
    const world = createWorld();
    const copies = watchEngineInputs(world);
    const laptop = await world.open();
    const { secretId } = await protect(laptop, textSecret("First", makePicture("market", "four words")), {});
    await examinePicture(laptop, makePicture("market").picture, {});
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

describe("a passphrase for an existing image", () => {
  async function createAccountWithPicture(passphrase: string | null) {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market", passphrase)), {});
    return { world, laptop };
  }

  it("is refused if the image has none", async () => {
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
    ["one with a trailing space", "four words "],
  ])("is refused if it is %s, and accepted if it is the image's", async (_case, passphrase) => {
    const { world, laptop } = await createAccountWithPicture("four words");
    await expect(protect(laptop, textSecret("Second", makePicture("market", passphrase)), {})).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    expect(world.service.account.rows.size).toBe(1);
    const { secretId } = await protect(laptop, textSecret("Second", makePicture("market", "four words")), {});
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await openSmallSecret(laptop, secretId, makePicture("market", "four words"), {})).title).toBe("Second");
  });

  it("is known to be needed before it is typed", async () => {
    const withoutPassphrase = await createAccountWithPicture(null);
    expect(
      (await examinePicture(withoutPassphrase.laptop, makePicture("market/small").picture, {})).known,
    ).toMatchObject({
      kind: "same",
      passphrase: "none",
    });
    const withPassphrase = await createAccountWithPicture("four words");
    expect((await examinePicture(withPassphrase.laptop, makePicture("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      passphrase: "needed",
    });
  });

  it("is not accepted with a helper that the service swapped", async () => {
    const { world, laptop } = await createAccountWithPicture("four words");
    const otherWorld = createWorld();
    await protect(await otherWorld.open(), textSecret("Other", makePicture("market")), {});
    const [record] = world.service.account.keyring?.imageRecords ?? [];
    const [otherRecord] = otherWorld.service.account.keyring?.imageRecords ?? [];
    if (record === undefined || otherRecord === undefined) throw new Error("expected an image record");
    Object.assign(record, { helper: otherRecord.helper });
    await expect(examinePicture(laptop, makePicture("market").picture, {})).rejects.toEqual(
      errorWithCode("helper_changed"),
    );
    await expect(protect(laptop, textSecret("Second", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("helper_changed"),
    );
  });
});
