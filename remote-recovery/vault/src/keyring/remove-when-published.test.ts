import "fake-indexeddb/auto";

import type { Keyring } from "@relicario/shared/api";

import { protect } from "../operations/protect.ts";
import { computeStateDigest } from "../seal/state.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { removeWhenPublished, accountDescendsFrom } from "./remove-when-published.ts";
import { readAccount, type AccountView } from "./read-account.ts";

type States = NonNullable<Keyring["states"]>;

let world: World;
let vault: VaultSession;
let account: AccountView;
let states: States;
let service: VaultSession["service"];

beforeAll(async () => {
  world = createWorld();
  vault = await world.open();
  await protect(vault, textSecret("1", makePicture("market")), {});
  for (const title of ["2", "3", "4"]) await protect(vault, textSecret(title), {});
  const accountOrNull = await readAccount(vault);
  if (accountOrNull === null) throw new TypeError("expected an account");
  account = accountOrNull;
  states = world.service.account.keyring?.states ?? [];
  ({ service } = vault);
});

afterEach(() => {
  Object.assign(vault, { service });
});

const sentStateAt = (rev: number): { state_rev: number; sha256: string } => ({
  state_rev: rev,
  sha256: computeStateDigest(states[rev - 1]?.state ?? ""),
});
const unknownState = { state_rev: 2, sha256: "A".repeat(43) };

/** Opens a vault whose service sends these changed states. */
function withStates(change: (states: States) => States): VaultSession {
  const getKeyring: typeof service.getKeyring = async (since, signal) => {
    const keyring = await service.getKeyring(since, signal);
    return keyring === null ? null : { ...keyring, states: change(keyring.states ?? []) };
  };
  return Object.assign(vault, { service: { ...service, getKeyring } });
}

describe("accountDescendsFrom", () => {
  it.each([1, 2, 3, 4])("is true for the state of rev %d", async (rev) => {
    expect(await accountDescendsFrom(vault, account, [unknownState, sentStateAt(rev)])).toBe(true);
  });

  it("is false for an unknown state and for a later one", async () => {
    expect(await accountDescendsFrom(vault, account, [unknownState])).toBe(false);
    expect(await accountDescendsFrom(vault, account, [{ ...unknownState, state_rev: 5 }])).toBe(false);
  });

  it("ignores states written after the account was read", async () => {
    const newerVault = withStates((all) => [...all, { state_rev: 5, state: states[0]?.state ?? "" }]);
    expect(await accountDescendsFrom(newerVault, account, [sentStateAt(2)])).toBe(true);
  });

  it.each<[string, (all: States) => States]>([
    ["no states", () => []],
    ["all states but the newest", (all) => all.slice(0, -1)],
    ["all states but one in between", (all) => all.filter(({ state_rev: rev }) => rev !== 3)],
    [
      "the sent state before another newest one",
      (all) => [...all.slice(0, 1), { state_rev: 4, state: states[0]?.state ?? "" }],
    ],
    ["the sent state in place of the newest", (all) => [{ state_rev: 4, state: all[0]?.state ?? "" }]],
  ])("is false when the service sends %s", async (_case, change) => {
    expect(await accountDescendsFrom(withStates(change), account, [sentStateAt(2)])).toBe(false);
  });

  it("refuses a locked account", async () => {
    await expect(
      accountDescendsFrom(vault, { ...account, view: { ...account.view, openedKeyring: null } }, [sentStateAt(4)]),
    ).rejects.toMatchObject({ code: "vault_locked" });
  });
});

describe("removeWhenPublished", () => {
  it("removes a record only if one of its states is found", async () => {
    const remove = jest.fn(() => Promise.resolve());
    expect([
      await removeWhenPublished(vault, [], remove),
      await removeWhenPublished(vault, [unknownState], remove),
      remove.mock.calls.length,
    ]).toEqual([false, false, 0]);
    expect([await removeWhenPublished(vault, [sentStateAt(2)], remove), remove.mock.calls.length]).toEqual([true, 1]);
  });
});
