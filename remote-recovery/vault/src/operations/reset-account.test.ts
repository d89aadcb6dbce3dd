import "fake-indexeddb/auto";

import { fromBase64url, toBase64url, type Keyring, type KeyringChange } from "@relicario/shared/api";
import { isSelfSigned } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";

import { AccountKey, deriveMetadataKeys } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { openSlot } from "../seal/opener.ts";
import { sealState, computeStateDigest } from "../seal/state.ts";
import { loadPendingAccount } from "../device/pending-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { resetAccount } from "./reset-account.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";

const readTitles = async (vault: VaultSession): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title).sort();
const reset = (vault: VaultSession, picture = "forest") =>
  resetAccount(vault, { presentedPicture: makePicture(picture), name: "Forest" });

/** An account with one secret, and the device that created it. */
const createAccountWithSecret = async (): Promise<{ world: World; laptop: VaultSession }> => {
  const world = createWorld();
  const laptop = await world.open();
  await protect(laptop, textSecret("Before", makePicture("market")), {});
  return { world, laptop };
};
const requireKeyring = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("expected a keyring");
  return keyring;
};

describe("resetAccount", () => {
  it("uses the next key epoch and the next state of the chain, and leaves no former data", async () => {
    const { world } = await createAccountWithSecret();
    const keyringBefore = structuredClone(requireKeyring(world));
    world.service.account.accountReset = "ready";
    const phone = await world.open("phone");
    await reset(phone);
    const sentChange = lastOf(
      world.service.bodies.filter(
        (body): body is KeyringChange => typeof body === "object" && body !== null && "key_statement" in body,
      ),
    );
    expect(sentChange).toMatchObject({
      key_epoch: 2,
      state_rev: 2,
      key_statement: { key_epoch: 2, previous_sig: null, user_id: userId },
    });
    expect(sentChange?.slots?.remove).toEqual(keyringBefore.slots.map((slot) => slot.opener_id));
    expect(sentChange?.image_records?.remove).toEqual(keyringBefore.imageRecords.map(({ id }) => id));
    const { keyStatement, states } = requireKeyring(world);
    expect(keyStatement.signing_key).not.toBe(keyringBefore.keyStatement.signing_key);
    expect(isSelfSigned(keyStatement)).toBe(true);
    expect((await refreshKeyring(phone))?.openedKeyring?.state).toMatchObject({
      count: 0,
      state_rev: 2,
      previous: computeStateDigest(lastOf(keyringBefore.states)?.state ?? ""),
    });
    expect(states).toHaveLength(2);
    expect(await phone.loadCheckpoint()).toMatchObject({ keyEpoch: 2, stateRev: 2 });
    expect(await loadPendingAccount(phone.device)).toBeNull();
    await protect(phone, textSecret("After", makePicture("forest")), {});
    expect(await readTitles(phone)).toEqual(["After"]);
  });

  it("replaces the account on its device, even after a reload", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await setDeviceKind(laptop, "own");
    world.service.account.accountReset = "ready";
    await reset(laptop);
    expect(laptop.state).toEqual({ status: "unlocked", device: "own" });
    await protect(laptop, textSecret("After"), {});
    expect(await readTitles(await world.open())).toEqual(["After"]);
  });

  it("unlocks other devices only with the new picture", async () => {
    const { world, laptop } = await createAccountWithSecret();
    const tablet = await world.open("tablet");
    (await unlock(tablet, makePicture("market"))).opener.wipe();
    world.service.account.accountReset = "ready";
    await reset(await world.open("phone"));
    for (const device of [laptop, tablet]) {
      await refreshKeyring(device);
      expect(device.state.status).toBe("locked");
      await expect(unlock(device, makePicture("market"))).rejects.toMatchObject({ code: "not_this_picture" });
      (await unlock(device, makePicture("forest"))).opener.wipe();
      expect(await readTitles(device)).toEqual([]);
    }
  });

  it("changes nothing when the service refuses it", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await expect(reset(laptop)).rejects.toMatchObject({ code: "conflict" });
    expect(await readTitles(laptop)).toEqual(["Before"]);
    await protect(laptop, textSecret("Meanwhile"), {});
    expect(
      await readTitles(
        await world
          .open("phone")
          .then(async (phone) => ((await unlock(phone, makePicture("market"))).opener.wipe(), phone)),
      ),
    ).toEqual(["Before", "Meanwhile"]);
  });

  it("needs an existing account", async () => {
    await expect(reset(await createWorld().open())).rejects.toMatchObject({ code: "no_keyring" });
  });

  it("completes after a lost response, immediately or after a reload", async () => {
    for (const reload of [false, true]) {
      const { world } = await createAccountWithSecret();
      world.service.account.accountReset = "ready";
      const laptop = await world.open();
      world.service.transformResponse = (call, response) => {
        if (call === "PUT /user/keyring") throw new PortalError("internal_error");
        return response;
      };
      if (reload) {
        world.service.beforeCall = (call) => {
          if (call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2)
            throw new PortalError("service_unavailable");
        };
      }
      await (reload ? expect(reset(laptop)).rejects.toMatchObject({ code: "service_unavailable" }) : reset(laptop));
      world.service.beforeCall = () => undefined;
      const device = reload ? await world.open() : laptop;
      if (reload) await reset(device);
      if (device.state.status !== "unlocked") (await unlock(device, makePicture("forest"))).opener.wipe();
      expect(await readTitles(device)).toEqual([]);
      expect(requireKeyring(world).states).toHaveLength(2);
    }
  });

  it("enrols its picture once for all attempts", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await expect(reset(laptop)).rejects.toMatchObject({ code: "conflict" });
    const pendingAccount = await loadPendingAccount(laptop.device);
    world.service.account.accountReset = "ready";
    await reset(laptop);
    expect(requireKeyring(world).imageRecords.map(({ id }) => id)).toEqual([pendingAccount?.record.id]);
  });
});

describe("a service that forges a reset", () => {
  /** Forges an account that follows the current state. */
  const forgeReset = async (
    world: World,
    keyEpoch: number,
    overrides: { readonly previous?: string | null; readonly root?: string; readonly broken?: boolean } = {},
  ): Promise<void> => {
    const keyring = requireKeyring(world);
    const lastState = lastOf(keyring.states);
    if (lastState === undefined) throw new TypeError("expected a state");
    const accountKey = AccountKey.generate(keyEpoch);
    const keys = await deriveMetadataKeys(accountKey);
    const statement = await createKeyStatement(accountKey, userId);
    const zeroDigest = toBase64url(new Uint8Array(32));
    const state = {
      v: 1 as const,
      key_epoch: keyEpoch,
      state_rev: lastState.state_rev + 1,
      count: 0,
      root: overrides.root ?? zeroDigest,
      book_sha256: zeroDigest,
      shares_sha256: zeroDigest,
      requests_sha256: null,
    };
    const previous = overrides.previous === undefined ? computeStateDigest(lastState.state) : overrides.previous;
    keyring.states.push({ state_rev: state.state_rev, state: await sealState(keys, userId, state, previous) });
    keyring.keyEpoch = keyEpoch;
    keyring.keyStatement =
      overrides.broken === true ? { ...statement, recipient: keyring.keyStatement.recipient } : statement;
  };

  it("cannot unlock with the account's slot, which has another key epoch", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await forgeReset(world, 2);
    await refreshKeyring(laptop);
    expect(laptop.state.status).toBe("locked");
    await expect(unlock(laptop, makePicture("market"))).rejects.toMatchObject({ code: "decryption_failed" });
    expect(await laptop.loadCheckpoint()).toMatchObject({ keyEpoch: 1, stateRev: 1 });
  });

  it("cannot use another account with the same or a lower key epoch", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await forgeReset(world, 1);
    await expect(refreshKeyring(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    await expect(reset(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    const afterReset = await createAccountWithSecret();
    afterReset.world.service.account.accountReset = "ready";
    await reset(afterReset.laptop);
    await forgeReset(afterReset.world, 1);
    for (const operation of [refreshKeyring(afterReset.laptop), reset(afterReset.laptop)])
      await expect(operation).rejects.toMatchObject({ code: expect.stringMatching(/^(older_state|own_key_changed)$/) });
    expect(await afterReset.laptop.loadCheckpoint()).toMatchObject({ keyEpoch: 2, stateRev: 2 });
  });

  it("cannot fork the chain of states", async () => {
    for (const previous of [null, toBase64url(new Uint8Array(32))]) {
      const { world, laptop } = await createAccountWithSecret();
      await forgeReset(world, 2, { previous });
      for (const operation of [
        () => refreshKeyring(laptop),
        () => reset(laptop),
        () => unlock(laptop, makePicture("market")),
      ])
        await expect(operation()).rejects.toMatchObject({ code: "older_state" });
    }
  });

  it("is refused with an unverifiable statement, or one of another user", async () => {
    const { world, laptop } = await createAccountWithSecret();
    world.service.account.accountReset = "ready";
    await forgeReset(world, 2, { broken: true });
    await expect(reset(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    const otherAccount = await createAccountWithSecret();
    otherAccount.world.service.transformResponse = (call, response) => {
      if (call !== "GET /user/keyring" || response === null) return response;
      const keyring = response as Keyring;
      return {
        ...keyring,
        key_statement: { ...keyring.key_statement, user_id: "019a9e2c-7c1e-7abc-8def-0123456789ff" },
      };
    };
    await expect(reset(otherAccount.laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    expect(otherAccount.world.service.calls.filter((call) => call === "PUT /user/keyring")).toEqual([]);
  });

  it("loses nothing when it claims a reset that did not happen", async () => {
    const { world, laptop } = await createAccountWithSecret();
    (await unlock(laptop, makePicture("market"))).opener.wipe();
    world.service.account.accountReset = "ready";
    const accountBefore = world.service.snapshot();
    world.service.transformResponse = (call, response) => {
      if (call === "PUT /user/keyring") world.service.account = structuredClone(accountBefore);
      return response;
    };
    await expect(reset(laptop)).rejects.toMatchObject({ code: "publication_not_seen" });
    world.service.transformResponse = (_call, response) => response;
    await protect(laptop, textSecret("Still here"), {});
    expect(await readTitles(laptop)).toEqual(["Before", "Still here"]);
  });

  it("cannot use a former slot under the new statement", async () => {
    const { world, laptop } = await createAccountWithSecret();
    const recognised = await unlock(laptop, makePicture("market"));
    const [slot] = requireKeyring(world).slots;
    await expect(
      openSlot(recognised.opener, { userId, keyEpoch: 2 }, fromBase64url(slot?.slot ?? "")),
    ).rejects.toMatchObject({ code: "decryption_failed" });
  });
});
