import "fake-indexeddb/auto";

import { fromBase64url, hasValidSignature, toBase64url, type Keyring, type KeyringChange } from "@relicario/shared/api";
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

/** An account of before with one secret, and the device that made it. */
const createAccountWithSecret = async (): Promise<{ world: World; laptop: VaultSession }> => {
  const world = createWorld();
  const laptop = await world.open();
  await protect(laptop, textSecret("Before", makePicture("market")), {});
  return { world, laptop };
};
const requireKeyring = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("there is a keyring");
  return keyring;
};

describe("beginAnew", () => {
  it("takes the next generation and the next state that leads on, and leaves nothing of before", async () => {
    const { world } = await createAccountWithSecret();
    const before = structuredClone(requireKeyring(world));
    world.service.account.accountReset = "ready";
    const phone = await world.open("phone");
    await reset(phone);
    const sent = lastOf(
      world.service.bodies.filter(
        (body): body is KeyringChange => typeof body === "object" && body !== null && "key_statement" in body,
      ),
    );
    expect(sent).toMatchObject({
      key_epoch: 2,
      state_rev: 2,
      key_statement: { key_epoch: 2, previous_sig: null, user_id: userId },
    });
    expect(sent?.slots?.remove).toEqual(before.slots.map((slot) => slot.opener_id));
    expect(sent?.image_records?.remove).toEqual(before.imageRecords.map(({ id }) => id));
    const { keyStatement, states } = requireKeyring(world);
    expect(keyStatement.signing_key).not.toBe(before.keyStatement.signing_key);
    expect(hasValidSignature("key", keyStatement, fromBase64url(keyStatement.signing_key))).toBe(true);
    expect((await refreshKeyring(phone))?.openedKeyring?.state).toMatchObject({
      count: 0,
      state_rev: 2,
      previous: computeStateDigest(lastOf(before.states)?.state ?? ""),
    });
    expect(states).toHaveLength(2);
    expect(await phone.loadCheckpoint()).toMatchObject({ keyEpoch: 2, stateRev: 2 });
    expect(await loadPendingAccount(phone.device)).toBeNull();
    await protect(phone, textSecret("After", makePicture("forest")), {});
    expect(await readTitles(phone)).toEqual(["After"]);
  });

  it("takes the place of the account on the device that held it, and is there after a reload", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await setDeviceKind(laptop, "own");
    world.service.account.accountReset = "ready";
    await reset(laptop);
    expect(laptop.state).toEqual({ status: "unlocked", device: "own" });
    await protect(laptop, textSecret("After"), {});
    expect(await readTitles(await world.open())).toEqual(["After"]);
  });

  it("is taken by another device of the account with the new picture alone", async () => {
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

  it("changes nothing where the service says that it may not be begun", async () => {
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

  it("needs something to follow", async () => {
    await expect(reset(await createWorld().open())).rejects.toMatchObject({ code: "no_keyring" });
  });

  it("is seen as done when its answer was lost, at once or after a reload", async () => {
    for (const reload of [false, true]) {
      const { world } = await createAccountWithSecret();
      world.service.account.accountReset = "ready";
      const laptop = await world.open();
      world.service.transformAnswer = (call, answer) => {
        if (call === "PUT /user/keyring") throw new PortalError("internal_error");
        return answer;
      };
      if (reload) {
        world.service.beforeCall = (call) => {
          if (call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2)
            throw new PortalError("service_unavailable");
        };
      }
      await (reload ? expect(reset(laptop)).rejects.toMatchObject({ code: "service_unavailable" }) : reset(laptop));
      world.service.beforeCall = () => undefined;
      const after = reload ? await world.open() : laptop;
      if (reload) await reset(after);
      if (after.state.status !== "unlocked") (await unlock(after, makePicture("forest"))).opener.wipe();
      expect(await readTitles(after)).toEqual([]);
      expect(requireKeyring(world).states).toHaveLength(2);
    }
  });

  it("sketches its picture once, however often it is sent", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await expect(reset(laptop)).rejects.toMatchObject({ code: "conflict" });
    const first = await loadPendingAccount(laptop.device);
    world.service.account.accountReset = "ready";
    await reset(laptop);
    expect(requireKeyring(world).imageRecords.map(({ id }) => id)).toEqual([first?.record.id]);
  });
});

describe("a service that pretends a new beginning", () => {
  /** An account of the service's own making, which follows the state that is there. */
  const forgeReset = async (
    world: World,
    keyEpoch: number,
    change: { readonly previous?: string | null; readonly root?: string; readonly broken?: boolean } = {},
  ): Promise<void> => {
    const keyring = requireKeyring(world);
    const last = lastOf(keyring.states);
    if (last === undefined) throw new TypeError("there is a state");
    const keys = await deriveMetadataKeys(AccountKey.generate(keyEpoch));
    const statement = await createKeyStatement(keys, userId);
    const zeroDigest = toBase64url(new Uint8Array(32));
    const state = {
      v: 1 as const,
      key_epoch: keyEpoch,
      state_rev: last.state_rev + 1,
      count: 0,
      root: change.root ?? zeroDigest,
      book_sha256: zeroDigest,
      shares_sha256: zeroDigest,
      requests_sha256: null,
    };
    const previous = change.previous === undefined ? computeStateDigest(last.state) : change.previous;
    keyring.states.push({ state_rev: state.state_rev, state: await sealState(keys, userId, state, previous) });
    keyring.keyEpoch = keyEpoch;
    keyring.keyStatement =
      change.broken === true ? { ...statement, recipient: keyring.keyStatement.recipient } : statement;
  };

  it("gets no picture to open it: the account's own slot is of another generation, and it can make none", async () => {
    const { world, laptop } = await createAccountWithSecret();
    await forgeReset(world, 2);
    await refreshKeyring(laptop);
    expect(laptop.state.status).toBe("locked");
    await expect(unlock(laptop, makePicture("market"))).rejects.toMatchObject({ code: "decryption_failed" });
    expect(await laptop.loadCheckpoint()).toMatchObject({ keyEpoch: 1, stateRev: 1 });
  });

  it("cannot take another account of the same generation, nor of a lower one, in its place", async () => {
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

  it("cannot lead the device away from the states that it knows", async () => {
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

  it("is not followed with a statement that does not verify itself, or that names somebody else", async () => {
    const { world, laptop } = await createAccountWithSecret();
    world.service.account.accountReset = "ready";
    await forgeReset(world, 2, { broken: true });
    await expect(reset(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    const another = await createAccountWithSecret();
    another.world.service.transformAnswer = (call, answer) => {
      if (call !== "GET /user/keyring" || answer === null) return answer;
      const keyring = answer as Keyring;
      return {
        ...keyring,
        key_statement: { ...keyring.key_statement, user_id: "019a9e2c-7c1e-7abc-8def-0123456789ff" },
      };
    };
    await expect(reset(another.laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    expect(another.world.service.calls.filter((call) => call === "PUT /user/keyring")).toEqual([]);
  });

  it("says that it is begun, and keeps the account as it was: nothing is believed, and everything is still there", async () => {
    const { world, laptop } = await createAccountWithSecret();
    (await unlock(laptop, makePicture("market"))).opener.wipe();
    world.service.account.accountReset = "ready";
    const before = world.service.snapshot();
    world.service.transformAnswer = (call, answer) => {
      if (call === "PUT /user/keyring") world.service.account = structuredClone(before);
      return answer;
    };
    await expect(reset(laptop)).rejects.toMatchObject({ code: "publication_not_seen" });
    world.service.transformAnswer = (_call, answer) => answer;
    await protect(laptop, textSecret("Still here"), {});
    expect(await readTitles(laptop)).toEqual(["Before", "Still here"]);
  });

  it("gives a slot of before under the new statement, which opens nothing", async () => {
    const { world, laptop } = await createAccountWithSecret();
    const recognised = await unlock(laptop, makePicture("market"));
    const [slot] = requireKeyring(world).slots;
    await expect(
      openSlot(recognised.opener, { userId, keyEpoch: 2 }, fromBase64url(slot?.slot ?? "")),
    ).rejects.toMatchObject({ code: "decryption_failed" });
  });
});
