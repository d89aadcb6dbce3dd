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

/** An own laptop with four secrets; the service as it was after each. */
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

function snapshotAt(snapshots: readonly FakeAccount[], index: number): FakeAccount {
  const account = snapshots[index];
  if (account === undefined) throw new RangeError("no such state");
  return structuredClone(account);
}

async function readRejectedState(vault: VaultSession): Promise<OlderState> {
  const error: unknown = await refreshKeyring(vault).catch((cause: unknown) => cause);
  if (!isPortalError(error, "older_state") || vault.rejectedState === null) throw new TypeError("an alarm");
  return vault.rejectedState;
}

describe("a service that got consent to one older state", () => {
  it("does not get a still older one accepted with it", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    world.service.account = snapshotAt(snapshots, 2);
    const confirmedState = await readRejectedState(laptop);
    world.service.account = snapshotAt(snapshots, 0);
    await expect(acceptOlderState(laptop, confirmedState)).rejects.toEqual(errorWithCode("older_state"));
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));

    world.service.account = snapshotAt(snapshots, 2);
    await acceptOlderState(laptop, await readRejectedState(laptop));
    expect(await list(laptop)).toHaveLength(3);
    world.service.account = snapshotAt(snapshots, 1);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    await expect(list(await world.open())).rejects.toEqual(errorWithCode("older_state"));
  });

  it("cannot fork away from the accepted one, and may go on from it", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    world.service.account = snapshotAt(snapshots, 1);
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Fork"), {}); // another third state
    const fork = world.service.snapshot();
    world.service.account = snapshotAt(snapshots, 2);
    await acceptOlderState(laptop, await readRejectedState(laptop));
    world.service.account = fork;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    world.service.account = snapshotAt(snapshots, 3); // the one that was given up does lead on from it
    expect(await list(laptop)).toHaveLength(4);
    const { remembered, consent } = await laptop.device.read();
    expect(remembered?.stateRev).toBe(4);
    expect(consent).toMatchObject({ stateRev: 3, abandoned: { stateRev: 4 } });
  });

  it("is not helped by a lock: consent holds for the one digest while nothing can be opened", async () => {
    const { world, snapshots } = await createFourSecrets();
    await (await world.openNamedDevice()).write({ locked: true, lockedAt: 1 });
    world.service.account = snapshotAt(snapshots, 1);
    const locked = await world.open();
    await acceptOlderState(locked, await readRejectedState(locked));
    expect((await list(locked)).map((row) => row.label)).toEqual([null, null]);
    (await unlock(locked, makePicture("market"), {})).opener.wipe();
    expect((await locked.device.read()).remembered).toMatchObject({ stateRev: 2, count: 2 });
    world.service.account = snapshotAt(snapshots, 0);
    await expect(list(locked)).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("what was given up by consent", () => {
  it("is the highest that was ever known, also after a second consent", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    for (const index of [2, 0]) {
      world.service.account = snapshotAt(snapshots, index);
      await acceptOlderState(laptop, await readRejectedState(laptop));
    }
    expect((await laptop.device.read()).consent).toMatchObject({ stateRev: 1, abandoned: { stateRev: 4 } });
  });

  it("never is what another tab saw meanwhile: nobody was asked about that", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    const other = await world.open();
    world.service.account = snapshotAt(snapshots, 0);
    const rejectedState = await readRejectedState(laptop);
    const { update } = laptop.device;
    Object.assign(laptop.device, {
      update: async (change: Parameters<typeof update>[0]) => {
        world.service.account = snapshotAt(snapshots, 3);
        await protect(other, textSecret("Fifth"), {});
        world.service.account = snapshotAt(snapshots, 0);
        Object.assign(laptop.device, { update });
        await update(change);
      },
    });
    await expect(acceptOlderState(laptop, rejectedState)).rejects.toEqual(errorWithCode("older_state"));
    expect(await laptop.device.read()).toMatchObject({ remembered: { stateRev: 5 }, consent: null });
  });
});

describe("a second tab that knows less", () => {
  it("does not take the memory of the device down", async () => {
    const { world, laptop, snapshots } = await createFourSecrets();
    const before = await laptop.device.read();
    const staleTab = await world.open();
    await Promise.all([staleTab.device.update(({ remembered }) => ({ remembered })), list(laptop), list(staleTab)]);
    const third = snapshotAt(snapshots, 2).keyring;
    const view = await refreshKeyring(laptop);
    const last = lastOf(third?.states);
    if (view?.openedKeyring == null || last === undefined) throw new TypeError("unlocked");
    const { keyring, openedKeyring } = view;
    await staleTab.apply({
      keyring: { ...keyring, ...last },
      opening: { openedKeyring: { ...openedKeyring, state: { ...openedKeyring.state, state_rev: 3 } }, openers: null },
      pending: { kind: "unresolved" },
    });
    expect((await laptop.device.read()).remembered).toEqual(before.remembered);
  });
});

describe("a service that answers a higher key epoch", () => {
  it("makes no device drop its keys: the next honest answer finds it unlocked", async () => {
    const { world, laptop } = await createFourSecrets();
    world.service.transformAnswer = (call, answer) =>
      call === "GET /user/keyring" ? { ...(answer as object), key_epoch: 2 } : answer;
    expect((await refreshKeyring(laptop))?.openedKeyring).toBeNull();
    expect(laptop.state).toEqual({ status: "locked" });
    world.service.transformAnswer = (_call, answer) => answer;
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First", "Second", "Third", "Fourth"]);
    expect((await laptop.device.read()).metadataKeys).not.toBeNull();
  });
});

describe("a service that gives a chain of states", () => {
  /**
   * A state that this device cannot open, as one of another generation would be; of it only digest
   * and `previous` count.
   */
  const foreignState = async (previous: string): Promise<string> => {
    const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    return new CompactEncrypt(utf8("of another generation"))
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
    ["leads through a state that cannot be opened, to one that can", true],
    ["breaks there", false],
  ])("is followed by digests alone: one that %s", async (_case, isUnbroken) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const openedKeyring = (await refreshKeyring(laptop))?.openedKeyring;
    const { keyring } = world.service.account;
    const [first] = keyring?.states ?? [];
    if (openedKeyring == null || keyring === null || first === undefined) throw new TypeError("unlocked");
    const second = await foreignState(isUnbroken ? computeStateDigest(first.state) : computeStateDigest("another"));
    const { previous: _, ...state } = await openState(openedKeyring.keys, userId, 1, first.state);
    const third = await sealState(openedKeyring.keys, userId, { ...state, state_rev: 3 }, computeStateDigest(second));
    keyring.states.push({ state_rev: 2, state: second }, { state_rev: 3, state: third });
    if (isUnbroken) expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
    else await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });

  it("has to end in the state that is given: another one of the same number is a fork", async () => {
    const { world, laptop } = await createFourSecrets();
    const { stateRev } = (await laptop.device.read()).remembered ?? {};
    const openedKeyring = (await refreshKeyring(laptop))?.openedKeyring;
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Fifth"), {});
    const last = lastOf(world.service.account.keyring?.states);
    if (openedKeyring == null || last === undefined || stateRev === undefined) throw new TypeError("unlocked");
    const { previous, ...state } = await openState(openedKeyring.keys, userId, last.state_rev, last.state);
    const fork = await sealState(openedKeyring.keys, userId, state, previous);
    world.service.transformAnswer = (call, answer) =>
      call === "GET /user/keyring" ? Object.assign({}, answer, { state: fork }) : answer;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("a key statement that claims to follow a key", () => {
  it("is not believed where that key did not sign it", async () => {
    const { world, laptop } = await createFourSecrets();
    const { keyring } = world.service.account;
    const { keys } = laptop;
    if (keyring === null || keys === null) throw new TypeError("unlocked");
    const { sig: _, ...statement } = keyring.keyStatement;
    keyring.keyStatement = await signDocument(
      "key",
      { ...statement, previous_sig: toBase64url(new Uint8Array(64).fill(7)) },
      keys.signer,
    );
    await expect(list(laptop)).rejects.toEqual(errorWithCode("own_key_changed"));
    keyring.keyStatement = await signDocument("key", { ...statement, previous_sig: null }, keys.signer);
    expect(await list(laptop)).toHaveLength(4);
  });
});
