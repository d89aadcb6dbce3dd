import "fake-indexeddb/auto";

import { fromB64u, hasValidSignature, toB64u, type Keyring, type KeyringChange } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { AccountKey, deriveTitlesKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import { openSlot } from "../seal/opener.ts";
import { sealState, stateDigest } from "../seal/state.ts";
import { pendingAccount } from "../steps/pending.ts";
import { readKeyring, recall } from "../steps/read-keyring.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createWorld, shown, textSecret, userId, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { beginAnew } from "./start-anew.ts";
import { answerDevice, unlock } from "./unlock.ts";

const titles = async (vault: VaultContext): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title).sort();
const anew = (vault: VaultContext, picture = "forest") => beginAnew(vault, { shown: shown(picture), name: "Forest" });

/** An account of before with one secret, and the device that made it. */
const settled = async (): Promise<{ world: World; laptop: VaultContext }> => {
  const world = createWorld();
  const laptop = await world.open();
  await protect(laptop, textSecret("Before", shown("market")), {});
  return { world, laptop };
};
const requireKeyring = (world: World): NonNullable<World["service"]["account"]["keyring"]> => {
  const { keyring } = world.service.account;
  if (keyring === null) throw new TypeError("there is a keyring");
  return keyring;
};

describe("beginAnew", () => {
  it("takes the next generation and the next state that leads on, and leaves nothing of before", async () => {
    const { world } = await settled();
    const before = structuredClone(requireKeyring(world));
    world.service.account.startAnew = "ready";
    const phone = await world.open("phone");
    await anew(phone);
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
    expect(hasValidSignature("key", keyStatement, fromB64u(keyStatement.signing_key))).toBe(true);
    expect((await readKeyring(phone))?.opened?.state).toMatchObject({
      count: 0,
      state_rev: 2,
      previous: stateDigest(lastOf(before.states)?.state ?? ""),
    });
    expect(states).toHaveLength(2);
    expect(await recall(phone)).toMatchObject({ keyEpoch: 2, stateRev: 2 });
    expect(await pendingAccount(phone.device)).toBeNull();
    await protect(phone, textSecret("After", shown("forest")), {});
    expect(await titles(phone)).toEqual(["After"]);
  });

  it("takes the place of the account on the device that held it, and is there after a reload", async () => {
    const { world, laptop } = await settled();
    await answerDevice(laptop, "own");
    world.service.account.startAnew = "ready";
    await anew(laptop);
    expect(laptop.getState()).toEqual({ status: "unlocked", device: "own" });
    await protect(laptop, textSecret("After"), {});
    expect(await titles(await world.open())).toEqual(["After"]);
  });

  it("is taken by another device of the account with the new picture alone", async () => {
    const { world, laptop } = await settled();
    const tablet = await world.open("tablet");
    (await unlock(tablet, shown("market"))).opener.forget();
    world.service.account.startAnew = "ready";
    await anew(await world.open("phone"));
    for (const device of [laptop, tablet]) {
      await readKeyring(device);
      expect(device.getState().status).toBe("locked");
      await expect(unlock(device, shown("market"))).rejects.toMatchObject({ code: "not_this_picture" });
      (await unlock(device, shown("forest"))).opener.forget();
      expect(await titles(device)).toEqual([]);
    }
  });

  it("changes nothing where the service says that it may not be begun", async () => {
    const { world, laptop } = await settled();
    await expect(anew(laptop)).rejects.toMatchObject({ code: "conflict" });
    expect(await titles(laptop)).toEqual(["Before"]);
    await protect(laptop, textSecret("Meanwhile"), {});
    expect(
      await titles(
        await world
          .open("phone")
          .then(async (phone) => ((await unlock(phone, shown("market"))).opener.forget(), phone)),
      ),
    ).toEqual(["Before", "Meanwhile"]);
  });

  it("needs something to follow", async () => {
    await expect(anew(await createWorld().open())).rejects.toMatchObject({ code: "no_keyring" });
  });

  it("is seen as done when its answer was lost, at once or after a reload", async () => {
    for (const reload of [false, true]) {
      const { world } = await settled();
      world.service.account.startAnew = "ready";
      const laptop = await world.open();
      world.service.answer = (call, answer) => {
        if (call === "PUT /user/keyring") throw new PortalError("internal_error");
        return answer;
      };
      if (reload) {
        world.service.before = (call) => {
          if (call === "GET /user/keyring" && requireKeyring(world).keyEpoch === 2)
            throw new PortalError("service_unavailable");
        };
      }
      await (reload ? expect(anew(laptop)).rejects.toMatchObject({ code: "service_unavailable" }) : anew(laptop));
      world.service.before = () => undefined;
      const after = reload ? await world.open() : laptop;
      if (reload) await anew(after);
      if (after.getState().status !== "unlocked") (await unlock(after, shown("forest"))).opener.forget();
      expect(await titles(after)).toEqual([]);
      expect(requireKeyring(world).states).toHaveLength(2);
    }
  });

  it("sketches its picture once, however often it is sent", async () => {
    const { world, laptop } = await settled();
    await expect(anew(laptop)).rejects.toMatchObject({ code: "conflict" });
    const first = await pendingAccount(laptop.device);
    world.service.account.startAnew = "ready";
    await anew(laptop);
    expect(requireKeyring(world).imageRecords.map(({ id }) => id)).toEqual([first?.record.id]);
  });
});

describe("a service that pretends a new beginning", () => {
  /** An account of the service's own making, which follows the state that is there. */
  const pretend = async (
    world: World,
    keyEpoch: number,
    change: { readonly previous?: string | null; readonly root?: string; readonly broken?: boolean } = {},
  ): Promise<void> => {
    const keyring = requireKeyring(world);
    const last = lastOf(keyring.states);
    if (last === undefined) throw new TypeError("there is a state");
    const keys = await deriveTitlesKeys(AccountKey.make(keyEpoch));
    const statement = await makeKeyStatement(keys, userId);
    const other = toB64u(new Uint8Array(32));
    const state = {
      v: 1 as const,
      key_epoch: keyEpoch,
      state_rev: last.state_rev + 1,
      count: 0,
      root: change.root ?? other,
      book_sha256: other,
      shares_sha256: other,
      requests_sha256: null,
    };
    const previous = change.previous === undefined ? stateDigest(last.state) : change.previous;
    keyring.states.push({ state_rev: state.state_rev, state: await sealState(keys, userId, state, previous) });
    keyring.keyEpoch = keyEpoch;
    keyring.keyStatement =
      change.broken === true ? { ...statement, recipient: keyring.keyStatement.recipient } : statement;
  };

  it("gets no picture to open it: the account's own slot is of another generation, and it can make none", async () => {
    const { world, laptop } = await settled();
    await pretend(world, 2);
    await readKeyring(laptop);
    expect(laptop.getState().status).toBe("locked");
    await expect(unlock(laptop, shown("market"))).rejects.toMatchObject({ code: "decryption_failed" });
    expect(await recall(laptop)).toMatchObject({ keyEpoch: 1, stateRev: 1 });
  });

  it("cannot take another account of the same generation, nor of a lower one, in its place", async () => {
    const { world, laptop } = await settled();
    await pretend(world, 1);
    await expect(readKeyring(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    await expect(anew(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    const begun = await settled();
    begun.world.service.account.startAnew = "ready";
    await anew(begun.laptop);
    await pretend(begun.world, 1);
    for (const act of [readKeyring(begun.laptop), anew(begun.laptop)])
      await expect(act).rejects.toMatchObject({ code: expect.stringMatching(/^(older_state|own_key_changed)$/) });
    expect(await recall(begun.laptop)).toMatchObject({ keyEpoch: 2, stateRev: 2 });
  });

  it("cannot lead the device away from the states that it knows", async () => {
    for (const previous of [null, toB64u(new Uint8Array(32))]) {
      const { world, laptop } = await settled();
      await pretend(world, 2, { previous });
      for (const act of [() => readKeyring(laptop), () => anew(laptop), () => unlock(laptop, shown("market"))])
        await expect(act()).rejects.toMatchObject({ code: "older_state" });
    }
  });

  it("is not followed with a statement that does not verify itself, or that names somebody else", async () => {
    const { world, laptop } = await settled();
    world.service.account.startAnew = "ready";
    await pretend(world, 2, { broken: true });
    await expect(anew(laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    const another = await settled();
    another.world.service.answer = (call, answer) => {
      if (call !== "GET /user/keyring" || answer === null) return answer;
      const keyring = answer as Keyring;
      return {
        ...keyring,
        key_statement: { ...keyring.key_statement, user_id: "019a9e2c-7c1e-7abc-8def-0123456789ff" },
      };
    };
    await expect(anew(another.laptop)).rejects.toMatchObject({ code: "own_key_changed" });
    expect(another.world.service.calls.filter((call) => call === "PUT /user/keyring")).toEqual([]);
  });

  it("says that it is begun, and keeps the account as it was: nothing is believed, and everything is still there", async () => {
    const { world, laptop } = await settled();
    (await unlock(laptop, shown("market"))).opener.forget();
    world.service.account.startAnew = "ready";
    const before = world.service.snapshot();
    world.service.answer = (call, answer) => {
      if (call === "PUT /user/keyring") world.service.account = structuredClone(before);
      return answer;
    };
    await expect(anew(laptop)).rejects.toMatchObject({ code: "publication_not_seen" });
    world.service.answer = (_call, answer) => answer;
    await protect(laptop, textSecret("Still here"), {});
    expect(await titles(laptop)).toEqual(["Before", "Still here"]);
  });

  it("gives a slot of before under the new statement, which opens nothing", async () => {
    const { world, laptop } = await settled();
    const recognised = await unlock(laptop, shown("market"));
    const [slot] = requireKeyring(world).slots;
    await expect(
      openSlot(recognised.opener, { userId, keyEpoch: 2 }, fromB64u(slot?.slot ?? "")),
    ).rejects.toMatchObject({ code: "decryption_failed" });
  });
});
