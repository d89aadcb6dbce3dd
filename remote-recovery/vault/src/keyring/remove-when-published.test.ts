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
  const read = await readAccount(vault);
  if (read === null) throw new TypeError("an account");
  account = read;
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

/** The vault, whose service gives these states. */
function withStates(change: (states: States) => States): VaultSession {
  const getKeyring: typeof service.getKeyring = async (since, signal) => {
    const answer = await service.getKeyring(since, signal);
    return answer === null ? null : { ...answer, states: change(answer.states ?? []) };
  };
  return Object.assign(vault, { service: { ...service, getKeyring } });
}

describe("leadsBackTo", () => {
  it.each([1, 2, 3, 4])("sees the state of number %d", async (rev) => {
    expect(await accountDescendsFrom(vault, account, [unknownState, sentStateAt(rev)])).toBe(true);
  });

  it("does not see a state that is not there, nor one that would come next", async () => {
    expect(await accountDescendsFrom(vault, account, [unknownState])).toBe(false);
    expect(await accountDescendsFrom(vault, account, [{ ...unknownState, state_rev: 5 }])).toBe(false);
  });

  it("goes by the account as it was read, whatever was written since", async () => {
    const newer = withStates((all) => [...all, { state_rev: 5, state: states[0]?.state ?? "" }]);
    expect(await accountDescendsFrom(newer, account, [sentStateAt(2)])).toBe(true);
  });

  it.each<[string, (all: States) => States]>([
    ["none", () => []],
    ["all but the newest", (all) => all.slice(0, -1)],
    ["all but one in between", (all) => all.filter(({ state_rev: rev }) => rev !== 3)],
    [
      "the one that was sent behind another newest",
      (all) => [...all.slice(0, 1), { state_rev: 4, state: states[0]?.state ?? "" }],
    ],
    ["the one that was sent in the place of the newest", (all) => [{ state_rev: 4, state: all[0]?.state ?? "" }]],
  ])("believes no chain of which the service gives %s", async (_case, change) => {
    expect(await accountDescendsFrom(withStates(change), account, [sentStateAt(2)])).toBe(false);
  });

  it("takes an unlocked account", async () => {
    await expect(
      accountDescendsFrom(vault, { ...account, view: { ...account.view, openedKeyring: null } }, [sentStateAt(4)]),
    ).rejects.toMatchObject({ code: "vault_locked" });
  });
});

describe("forgetWhenPublished", () => {
  it("removes what is seen, and nothing else", async () => {
    const remove = jest.fn(() => Promise.resolve());
    expect([
      await removeWhenPublished(vault, [], remove),
      await removeWhenPublished(vault, [unknownState], remove),
      remove.mock.calls.length,
    ]).toEqual([false, false, 0]);
    expect([await removeWhenPublished(vault, [sentStateAt(2)], remove), remove.mock.calls.length]).toEqual([true, 1]);
  });
});
