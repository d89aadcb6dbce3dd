import "fake-indexeddb/auto";

import { toBase64url } from "@relicario/shared/api";
import { isPortalError } from "@relicario/shared/errors";
import { CompactEncrypt } from "jose";

import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { acceptOlderState, refreshKeyring } from "../keyring/refresh-keyring.ts";
import { signDocument } from "../seal/account-key.ts";
import { utf8 } from "../seal/bytes.ts";
import { openState, sealState, computeStateDigest } from "../seal/state.ts";
import { lastOf, type FakeAccount } from "../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { OlderState } from "../session/checkpoints.ts";
import type { VaultSession } from "../session/vault-session.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });

/** Protects four secrets on the user's own laptop, with a snapshot of the service after each. */
async function createFourSecrets(): Promise<{ world: World; laptop: VaultSession; snapshots: FakeAccount[] }> {
  const world = createWorld();
  const laptop = await world.open();
  const snapshots: FakeAccount[] = [];
  for (const title of ["First", "Second", "Third", "Fourth"]) {
    await protect(laptop, title === "First" ? textSecret(title, makePicture("market")) : textSecret(title), {});
    snapshots.push(world.service.snapshot());
    if (title === "First") await setDeviceKind(laptop, "own");
  }
  return { world, laptop, snapshots };
}

function copySnapshot(snapshots: readonly FakeAccount[], index: number): FakeAccount {
  const account = snapshots[index];
  if (account === undefined) throw new RangeError("expected this state");
  return structuredClone(account);
}

async function readRejectedState(vault: VaultSession): Promise<OlderState> {
  const error: unknown = await refreshKeyring(vault).catch((cause: unknown) => cause);
  if (!isPortalError(error, "older_state") || vault.rejectedState === null)
    throw new TypeError("expected the state to be rejected");
  return vault.rejectedState;
}

describe("a service that got the person's consent to an older state", () => {
  it("cannot get an even older state accepted with that consent", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    world.service.account = copySnapshot(snapshots, 2);
    const confirmedState = await readRejectedState(laptop);
    world.service.account = copySnapshot(snapshots, 0);
    await expect(acceptOlderState(laptop, confirmedState)).rejects.toEqual(errorWithCode("older_state"));
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));

    world.service.account = copySnapshot(snapshots, 2);
    await acceptOlderState(laptop, await readRejectedState(laptop));
    expect(await list(laptop)).toHaveLength(3);
    world.service.account = copySnapshot(snapshots, 1);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    await expect(list(await world.open())).rejects.toEqual(errorWithCode("older_state"));
  });

  it("cannot fork the chain at the accepted state, but may continue it", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    world.service.account = copySnapshot(snapshots, 1);
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Fork"), {}); // a different third state
    const forkedAccount = world.service.snapshot();
    world.service.account = copySnapshot(snapshots, 2);
    await acceptOlderState(laptop, await readRejectedState(laptop));
    world.service.account = forkedAccount;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    world.service.account = copySnapshot(snapshots, 3); // the abandoned state follows from the accepted one
    expect(await list(laptop)).toHaveLength(4);
    const { remembered, consent } = await laptop.device.read();
    expect(remembered?.stateRev).toBe(4);
    expect(consent).toMatchObject({ stateRev: 3, abandoned: { stateRev: 4 } });
  });

  it("gains nothing from a lock: while nothing can be opened, consent covers one digest", async () => {
    const { world, snapshots } = await createFourSecrets();
    await (await world.openNamedDevice()).write({ locked: true, lockedAt: 1 });
    world.service.account = copySnapshot(snapshots, 1);
    const lockedVault = await world.open();
    await acceptOlderState(lockedVault, await readRejectedState(lockedVault));
    expect((await list(lockedVault)).map((row) => row.label)).toEqual([null, null]);
    (await unlock(lockedVault, makePicture("market"), {})).opener.wipe();
    expect((await lockedVault.device.read()).remembered).toMatchObject({ stateRev: 2, count: 2 });
    world.service.account = copySnapshot(snapshots, 0);
    await expect(list(lockedVault)).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("the state abandoned by consent", () => {
  it("is the highest known state, even after a second consent", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    for (const index of [2, 0]) {
      world.service.account = copySnapshot(snapshots, index);
      await acceptOlderState(laptop, await readRejectedState(laptop));
    }
    expect((await laptop.device.read()).consent).toMatchObject({ stateRev: 1, abandoned: { stateRev: 4 } });
  });

  it("is never a state that another tab saw meanwhile, for which no consent was given", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    const otherVault = await world.open();
    (await unlock(otherVault, makePicture("market"), {})).opener.wipe();
    world.service.account = copySnapshot(snapshots, 0);
    const rejectedState = await readRejectedState(laptop);
    const { update } = laptop.device;
    Object.assign(laptop.device, {
      update: async (change: Parameters<typeof update>[0]) => {
        world.service.account = copySnapshot(snapshots, 3);
        await protect(otherVault, textSecret("Fifth"), {});
        world.service.account = copySnapshot(snapshots, 0);
        Object.assign(laptop.device, { update });
        await update(change);
      },
    });
    await expect(acceptOlderState(laptop, rejectedState)).rejects.toEqual(errorWithCode("older_state"));
    expect(await laptop.device.read()).toMatchObject({ remembered: { stateRev: 5 }, consent: null });
  });
});

describe("a second tab with an older state", () => {
  it("does not lower the state that the device remembers", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    const recordBefore = await laptop.device.read();
    const staleTab = await world.open();
    await Promise.all([staleTab.device.update(({ remembered }) => ({ remembered })), list(laptop), list(staleTab)]);
    const thirdKeyring = copySnapshot(snapshots, 2).keyring;
    const view = await refreshKeyring(laptop);
    const lastState = lastOf(thirdKeyring?.states);
    if (view?.openedKeyring == null || lastState === undefined)
      throw new TypeError("expected the vault to be unlocked");
    const { keyring, openedKeyring } = view;
    await staleTab.apply({
      keyring: { ...keyring, ...lastState },
      contents: { openedKeyring: { ...openedKeyring, state: { ...openedKeyring.state, state_rev: 3 } }, inner: null },
      pendingAccount: { kind: "unresolved" },
    });
    expect((await laptop.device.read()).remembered).toEqual(recordBefore.remembered);
  });
});

describe("a service that claims a higher key epoch", () => {
  it("does not make a device delete its keys: after the next honest response the device is unlocked", async () => {
    const { world, laptop } = await createFourSecrets();
    world.service.transformResponse = (call, response) =>
      call === "GET /user/keyring" ? { ...(response as object), key_epoch: 2 } : response;
    expect((await refreshKeyring(laptop))?.openedKeyring).toBeNull();
    expect(laptop.state).toEqual({ status: "locked" });
    world.service.transformResponse = (_call, response) => response;
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First", "Second", "Third", "Fourth"]);
    expect((await laptop.device.read()).metadataKeys).not.toBeNull();
  });
});

describe("a chain of states from the service", () => {
  /**
   * Builds a state of another key epoch, which this device cannot open. Only its digest and
   * `previous` matter.
   */
  const buildForeignState = async (previous: string): Promise<string> => {
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    return new CompactEncrypt(utf8("of another key epoch"))
      .setProtectedHeader({
        alg: "dir",
        enc: "A256GCM",
        typ: "relicario-state",
        user_id: userId,
        key_epoch: 7,
        previous,
      })
      .encrypt(key);
  };

  it.each([
    ["passes through a state that cannot be opened", true],
    ["breaks at that state", false],
  ])("is followed only by digests: a chain that %s", async (_case, isUnbroken) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const openedKeyring = (await refreshKeyring(laptop))?.openedKeyring;
    const { keyring } = world.service.account;
    const [firstState] = keyring?.states ?? [];
    if (openedKeyring == null || keyring === null || firstState === undefined)
      throw new TypeError("expected the vault to be unlocked");
    const secondState = await buildForeignState(
      isUnbroken ? computeStateDigest(firstState.state) : computeStateDigest("another"),
    );
    const { previous: _, ...state } = await openState(openedKeyring.keys, userId, 1, firstState.state);
    const thirdState = await sealState(
      openedKeyring.keys,
      userId,
      { ...state, state_rev: 3 },
      computeStateDigest(secondState),
    );
    keyring.states.push({ state_rev: 2, state: secondState }, { state_rev: 3, state: thirdState });
    if (isUnbroken) expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
    else await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });

  it("must end in the served state: a different state with the same number is a fork", async () => {
    const { world, laptop } = await createFourSecrets();
    const { stateRev } = (await laptop.device.read()).remembered ?? {};
    const openedKeyring = (await refreshKeyring(laptop))?.openedKeyring;
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Fifth"), {});
    const lastState = lastOf(world.service.account.keyring?.states);
    if (openedKeyring == null || lastState === undefined || stateRev === undefined)
      throw new TypeError("expected the vault to be unlocked");
    const { previous, ...state } = await openState(openedKeyring.keys, userId, lastState.state_rev, lastState.state);
    const forkedState = await sealState(openedKeyring.keys, userId, state, previous);
    world.service.transformResponse = (call, response) =>
      call === "GET /user/keyring" ? Object.assign({}, response, { state: forkedState }) : response;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("a key statement that names a previous key", () => {
  it("is refused if that key did not sign the statement", async () => {
    const { world, laptop } = await createFourSecrets();
    const { keyring } = world.service.account;
    if (keyring === null) throw new TypeError("expected a keyring");
    const author = await laptop.requireAccountKey().getAuthor();
    const { sig: _, ...statement } = keyring.keyStatement;
    keyring.keyStatement = await signDocument(
      "key",
      { ...statement, previous_sig: toBase64url(new Uint8Array(64).fill(7)) },
      author,
    );
    await expect(list(laptop)).rejects.toEqual(errorWithCode("own_key_changed"));
    keyring.keyStatement = await signDocument("key", { ...statement, previous_sig: null }, author);
    expect(await list(laptop)).toHaveLength(4);
  });
});
