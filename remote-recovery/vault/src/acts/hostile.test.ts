import "fake-indexeddb/auto";

import { ed25519 } from "@noble/curves/ed25519.js";
import { fromB64u, signedBytes, toB64u } from "@relicario/shared/api";

import { sealTo } from "../seal/age.ts";
import { copyOf, randomBytes } from "../seal/bytes.ts";
import { makeHelper } from "../seal/helper.ts";
import { newId } from "../seal/ids.ts";
import type { ShownOpener } from "../seal/opener.ts";
import { documentBytes } from "../seal/document.ts";
import { stateDigest } from "../seal/state.ts";
import type { OwnerTicket } from "../seal/ticket.ts";
import type { OlderState, VaultContext } from "../vault-context.ts";
import { createFakeEngine, sketchFor } from "../testing/fake-engine.ts";
import { lastOf, touch, type FakeAccount, type FakeRow } from "../testing/fake-account.ts";
import { rewriteRow } from "../testing/rewrite.ts";
import { createWorld, shown, textSecret, userId, type World } from "../testing/world.ts";
import { exportSecrets } from "./export-secrets.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { acceptOlderState, readKeyring } from "../steps/read-keyring.ts";
import { recover } from "./recover.ts";
import { recogniseImage } from "../steps/recognise-image.ts";
import { answerDevice, unlock } from "./unlock.ts";
import { update } from "./update.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const keyringOf = (account: FakeAccount): NonNullable<FakeAccount["keyring"]> => {
  if (account.keyring === null) throw new TypeError("no keyring");
  return account.keyring;
};
const alarmOf = ({ alarmed }: VaultContext): OlderState => {
  if (alarmed === null) throw new TypeError("no alarm");
  return alarmed;
};
const flipLast = (b64u: string): string => {
  const bytes = copyOf(fromB64u(b64u));
  bytes[bytes.length - 1] = (lastOf(bytes) ?? 0) ^ 1;
  return toB64u(bytes);
};

/** Two secrets on an unlocked laptop; `earlier` is the service after the first. */
async function twoSecrets(): Promise<{
  world: World;
  laptop: VaultContext;
  earlier: FakeAccount;
  first: string;
  second: string;
}> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", shown("market")), {});
  const earlier = world.service.snapshot();
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  return { world, laptop, earlier, first, second };
}

describe("a service that gives back an older state", () => {
  it("is stopped after one silent second reading; going on is a deliberate choice", async () => {
    const { world, laptop, earlier } = await twoSecrets();
    world.service.account = earlier;
    world.service.calls.length = 0;
    await expect(list(laptop)).rejects.toEqual(code("older_state"));
    expect(world.service.calls.filter((call) => call === "GET /user/keyring").length).toBeGreaterThanOrEqual(2);
    await expect(readKeyring(laptop)).rejects.toEqual(code("older_state"));
    await acceptOlderState(laptop, alarmOf(laptop));
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
  });

  it("is stopped on a locked device too, and after a reload", async () => {
    const { world, earlier } = await twoSecrets();
    world.service.account = earlier;
    const reloaded = await world.open();
    await expect(list(reloaded)).rejects.toEqual(code("older_state"));
    await expect(unlock(reloaded, shown("market"), {})).rejects.toEqual(code("older_state"));
  });

  it("is forgiven when the second reading is right: another device wrote in between", async () => {
    const { world, laptop, earlier } = await twoSecrets();
    const present = world.service.account;
    let readings = 0;
    world.service.before = (call) => {
      if (call === "GET /user/keyring") world.service.account = ++readings === 1 ? earlier : present;
    };
    expect(await list(laptop)).toHaveLength(2);
  });

  it("cannot be chosen without an alarm", async () => {
    const { world, laptop, earlier } = await twoSecrets();
    await acceptOlderState(laptop, {
      stateRev: 1,
      stateSha256: stateDigest(lastOf(keyringOf(earlier).states)?.state ?? ""),
    });
    world.service.account = earlier;
    await expect(list(laptop)).rejects.toEqual(code("older_state"));
  });
});

describe("a service that forks the chain of states", () => {
  it("is stopped: another state of the same rev, or one that does not follow", async () => {
    const { world, laptop, earlier } = await twoSecrets();
    world.service.account = earlier;
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    await protect(phone, textSecret("Fork"), {});
    await expect(list(laptop)).rejects.toEqual(code("older_state"));
    await protect(phone, textSecret("Further"), {});
    await expect(list(laptop)).rejects.toEqual(code("older_state"));
  });

  it("is stopped at a gap in the chain", async () => {
    const { world, laptop } = await twoSecrets();
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    await protect(phone, textSecret("Third"), {});
    await protect(phone, textSecret("Fourth"), {});
    world.service.answer = (call, answer) => {
      if (call !== "GET /user/keyring") return answer;
      const keyring = answer as { states?: unknown[] };
      return { ...keyring, ...(keyring.states === undefined ? {} : { states: keyring.states.slice(1) }) };
    };
    await expect(list(laptop)).rejects.toEqual(code("older_state"));
    world.service.answer = (call, answer) => {
      if (call !== "GET /user/keyring") return answer;
      const { states: _, ...rest } = answer as { states?: unknown };
      return rest;
    };
    await expect(list(laptop)).rejects.toEqual(code("older_state"));
    world.service.answer = (_call, answer) => answer;
    expect(await list(laptop)).toHaveLength(4);
  });
});

describe("a service that says there is no keyring", () => {
  const hide = (world: World): void => {
    keyringOf(world.service.account);
    world.service.account.keyring = null;
  };

  it("is not believed on a device that remembers one", async () => {
    const { world, laptop } = await twoSecrets();
    world.service.account = { keyring: null, rows: new Map(), changes: 0 };
    await expect(readKeyring(laptop)).rejects.toEqual(code("keyring_missing"));
    await expect(protect(laptop, textSecret("New", shown("forest")), {})).rejects.toEqual(code("keyring_missing"));
    await expect(readKeyring(await world.open())).rejects.toEqual(code("keyring_missing"));
  });

  it("is not believed on a fresh device while labels exist", async () => {
    const { world } = await twoSecrets();
    hide(world);
    const phone = await world.open("phone");
    await expect(protect(phone, textSecret("New", shown("forest")), {})).rejects.toEqual(code("keyring_missing"));
    expect(phone.getState().status).not.toBe("empty");
  });
});

describe("a list that does not fit the state", () => {
  const rowsOf = (world: World): [FakeRow, FakeRow] => {
    const [one, two] = [...world.service.account.rows.values()];
    if (one === undefined || two === undefined) throw new TypeError("two rows");
    return [one, two];
  };
  const last = (row: FakeRow): FakeRow["versions"][number] => {
    const version = lastOf(row.versions);
    if (version === undefined) throw new TypeError("no version");
    return version;
  };

  it.each<[string, (world: World, earlier: FakeAccount) => void]>([
    [
      "swapped labels",
      (world) => {
        const [one, two] = rowsOf(world);
        [last(one).label, last(two).label] = [last(two).label, last(one).label];
      },
    ],
    [
      "a label altered",
      (world) => {
        const [one] = rowsOf(world);
        last(one).label = `${last(one).label.slice(0, -1)}${last(one).label.endsWith("A") ? "B" : "A"}`;
      },
    ],
    [
      "a label that is none",
      (world) => {
        const [one] = rowsOf(world);
        last(one).label = "AAAA..AAAA.AAAA.AAAA";
      },
    ],
    [
      "another version",
      (world) => {
        const [one] = rowsOf(world);
        one.versions.push(last(one));
      },
    ],
    [
      "a row missing",
      (world) => {
        world.service.account.rows.delete([...world.service.account.rows.keys()][0] ?? "");
      },
    ],
    [
      "a row more",
      (world) => {
        world.service.account.rows.set(newId(Date.now()), structuredClone(rowsOf(world)[0]));
      },
    ],
    [
      "rows of an older state",
      (world, earlier) => {
        world.service.account.rows = earlier.rows;
      },
    ],
  ])("is refused: %s", async (_what, tamper) => {
    const { world, laptop, earlier } = await twoSecrets();
    tamper(world, earlier);
    for (const row of world.service.account.rows.values()) touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(code("list_mismatch"));
    // Locked, the same device still knows the root of the state that it remembers.
    await expect(list(await world.open())).rejects.toEqual(code("list_mismatch"));
    await expect(protect(laptop, textSecret("Third"), {})).rejects.toEqual(code("list_mismatch"));
  });

  it("is refused with a wrong total, an older state_rev, or pages that never end", async () => {
    const { world, laptop } = await twoSecrets();
    const page = (change: object): void => {
      world.service.answer = (call, answer) =>
        call === "GET /secrets/store" ? { ...(answer as object), ...change } : answer;
    };
    for (const change of [{ total: 3 }, { state_rev: 1 }, { secrets: [], next_cursor: newId(1) }]) {
      page(change);
      await expect(list(laptop)).rejects.toEqual(code("list_mismatch"));
    }
  });

  it("is read anew when its state changes between pages", async () => {
    const { world, laptop } = await twoSecrets();
    for (const title of ["Third", "Fourth"]) await protect(laptop, textSecret(title), {});
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    laptop.held = null; // every page is read
    let pages = 0;
    world.service.before = async (call) => {
      if (call !== "GET /secrets/store" || ++pages !== 2) return;
      world.service.before = () => undefined;
      await protect(phone, textSecret("Between"), {});
    };
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual([
      "First",
      "Second",
      "Third",
      "Fourth",
      "Between",
    ]);
  });
});

describe("a service that swaps two secrets", () => {
  it("is refused: their ids in the list, with labels, tickets and contents that each fit the other", async () => {
    const { world, laptop, first, second } = await twoSecrets();
    const { rows } = world.service.account;
    const [one, two] = [rows.get(first), rows.get(second)];
    if (one === undefined || two === undefined) throw new TypeError("two rows");
    rows.set(first, two).set(second, one);
    for (const row of rows.values()) touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(code("list_mismatch"));
  });

  it.each(["label", "ticket", "content"] as const)(
    "is refused: the %s of the other in what it gives of one",
    async (part) => {
      const { world, laptop, first, second } = await twoSecrets();
      await list(laptop);
      const other = world.service.account.rows.get(second)?.versions[0]?.[part];
      world.service.answer = (call, answer) =>
        call === "POST /secrets/store/get-secret" ? { ...(answer as object), [part]: other } : answer;
      await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(
        code(part === "content" ? "decryption_failed" : "list_mismatch"),
      );
    },
  );
});

describe("a service that lies about a secret", () => {
  it.each<[string, string, (one: FakeRow["versions"][number], two: FakeRow["versions"][number]) => void]>([
    [
      "another secret's ticket",
      "list_mismatch",
      (one, two) => {
        one.ticket = two.ticket;
      },
    ],
    [
      "an altered ticket",
      "list_mismatch",
      (one) => {
        one.ticket = flipLast(one.ticket);
      },
    ],
    [
      "another secret's content",
      "decryption_failed",
      (one, two) => {
        one.content = two.content;
      },
    ],
    [
      "altered content",
      "decryption_failed",
      (one) => {
        one.content = flipLast(one.content);
      },
    ],
  ])("is refused: %s", async (_what, expected, tamper) => {
    const { world, laptop, first, second } = await twoSecrets();
    const [one, two] = [
      world.service.account.rows.get(first)?.versions[0],
      world.service.account.rows.get(second)?.versions[0],
    ];
    if (one === undefined || two === undefined) throw new TypeError("two rows");
    tamper(one, two);
    await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(code(expected));
  });

  it("is refused when it answers with another label or version than it lists", async () => {
    const { world, laptop, first } = await twoSecrets();
    for (const change of [{ version: 2 }, { label: "AAAA..AAAA.AAAA.AAAA" }]) {
      world.service.answer = (call, answer) =>
        call === "POST /secrets/store/get-secret" ? { ...(answer as object), ...change } : answer;
      await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(code("list_mismatch"));
    }
  });
});

describe("a service that gives the version before for the newest", () => {
  /** The first of two secrets has two versions. */
  async function twoVersions() {
    const all = await twoSecrets();
    await update(
      all.laptop,
      all.first,
      {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) },
      },
      {},
    );
    const row = all.world.service.account.rows.get(all.first);
    const [before, newest] = row?.versions ?? [];
    if (row === undefined || before === undefined || newest === undefined) throw new TypeError("two versions");
    return { ...all, row, before, newest };
  }

  it("is refused: the row as it was then", async () => {
    const { world, laptop, row } = await twoVersions();
    row.versions.pop();
    touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(code("list_mismatch"));
  });

  it("is refused: its label under the new number", async () => {
    const { world, laptop, row, before, newest } = await twoVersions();
    newest.label = before.label;
    touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(code("list_mismatch"));
  });

  it.each([
    ["ticket", "list_mismatch", ["ticket"]],
    ["content", "decryption_failed", ["content"]],
    ["ticket and content", "list_mismatch", ["ticket", "content"]],
    ["label, ticket and content", "list_mismatch", ["label", "ticket", "content"]],
  ] as const)("is refused: its %s", async (_what, expected, parts) => {
    const { world, laptop, first, before } = await twoVersions();
    const given = Object.fromEntries(parts.map((part) => [part, before[part]]));
    world.service.answer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), ...given } : answer;
    await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(code(expected));
  });

  it.each([
    ["ticket", "list_mismatch"],
    ["content", "decryption_failed"],
  ] as const)("is refused the other way too: the newest %s for the version before", async (part, expected) => {
    const { world, laptop, first, newest } = await twoVersions();
    world.service.answer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), [part]: newest[part] } : answer;
    await expect(recover(laptop, first, shown("market"), { version: 1 })).rejects.toEqual(code(expected));
  });
});

describe("a ticket whose digest fits", () => {
  let world: World;
  let laptop: VaultContext;
  let first: string;
  let second: string;
  let opener: ShownOpener;
  beforeEach(async () => {
    ({ world, laptop, first, second } = await twoSecrets());
    ({ opener } = await recogniseImage(laptop, shown("market"), null, {}));
  });

  const reseal = (ticket: OwnerTicket): Promise<Uint8Array> => sealTo([opener.recipient], documentBytes(ticket));

  it("opens as not verified when another key signed it", async () => {
    const seed = randomBytes(32);
    await rewriteRow(world, laptop, first, opener, {
      seal: (ticket) => reseal({ ...ticket, sig: toB64u(ed25519.sign(signedBytes("ticket", ticket), seed)) }),
    });
    const secret = await recover(laptop, first, shown("market"), {});
    expect(secret.author).toBe("not_verified");
    expect(new TextDecoder().decode(secret.content)).toBe("content of First");
    const sink = {
      write: () => Promise.resolve(),
      commit: () => Promise.resolve(new Blob()),
      discard: () => Promise.resolve(),
    };
    const parts = {
      range: () => Promise.reject(new TypeError("nothing here is large")),
      patience: { wait: () => Promise.resolve() },
      openSink: () => Promise.resolve(sink),
    };
    await expect(exportSecrets(laptop, parts, [first, second], shown("market"), {})).resolves.toMatchObject({
      exported: 2,
      notVerified: [first],
    });
  });

  it.each<[string, (ticket: OwnerTicket) => Partial<OwnerTicket>]>([
    ["another secret", () => ({ secret_id: second })],
    ["another version", () => ({ version: 2 })],
    ["a later rev than the label's", () => ({ rev: 2 })],
    ["another owner", () => ({ owner: second })],
    ["another title at the same rev", () => ({ title: "Else" })],
    ["other tags at the same rev", () => ({ tags: [] })],
    ["another file name at the same rev", () => ({ name: "else.txt" })],
    ["another kind", () => ({ content_kind: "seed" })],
    ["another size", ({ size }) => ({ size: size + 1 })],
    ["another content", () => ({ content_sha256: toB64u(new Uint8Array(32)) })],
  ])("is refused when it is of %s", async (_what, change) => {
    await rewriteRow(world, laptop, first, opener, { seal: (ticket) => reseal({ ...ticket, ...change(ticket) }) });
    await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(code("decryption_failed"));
  });

  it.each<[string, string, object]>([
    ["title at the same rev", "decryption_failed", { title: "Else" }],
    ["tags at the same rev", "decryption_failed", { tags: ["else"] }],
    ["file name at the same rev", "decryption_failed", { name: "else.txt" }],
    ["kind", "decryption_failed", { content_kind: "seed" }],
    ["size", "decryption_failed", { size: 1 }],
  ])("is refused when the label says another %s", async (_what, expected, label) => {
    await rewriteRow(world, laptop, first, opener, { label, seal: reseal });
    await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(code(expected));
  });

  it("is not asked for when the label names other openers", async () => {
    await rewriteRow(world, laptop, first, opener, { label: { openers: [second] }, seal: reseal });
    world.service.calls.length = 0;
    await expect(recover(laptop, first, shown("market"), {})).rejects.toEqual(code("opener_needed"));
    expect(world.service.calls).not.toContain("POST /secrets/store/get-secret");
  });

  it("may be older than the label by renamings: the label is what is shown", async () => {
    await rewriteRow(world, laptop, first, opener, { rev: 2, label: { title: "Renamed" }, seal: reseal });
    const secret = await recover(laptop, first, shown("market"), {});
    expect([secret.title, secret.author]).toEqual(["Renamed", "verified"]);
  });
});

describe("a keyring whose parts do not belong together", () => {
  it.each<
    [string, string, (now: NonNullable<FakeAccount["keyring"]>, other: NonNullable<FakeAccount["keyring"]>) => void]
  >([
    [
      "an older book",
      "older_state",
      (now, other) => {
        now.book = other.book;
      },
    ],
    [
      "other shares",
      "older_state",
      (now, other) => {
        now.shares = other.shares;
      },
    ],
    [
      "another key statement",
      "own_key_changed",
      (now, other) => {
        now.keyStatement = other.keyStatement;
      },
    ],
    [
      "an altered key statement",
      "own_key_changed",
      (now) => {
        now.keyStatement = { ...now.keyStatement, sig: flipLast(now.keyStatement.sig) };
      },
    ],
    [
      "an older generation",
      "older_state",
      (now) => {
        now.keyEpoch = 0;
      },
    ],
  ])("is refused: %s", async (_what, expected, tamper) => {
    const { world, laptop } = await twoSecrets();
    const other = createWorld();
    await protect(await other.open(), textSecret("Other", shown("market")), {});
    const keyring = keyringOf(world.service.account);
    tamper(keyring, keyringOf(other.service.account));
    if (keyring.keyEpoch === 0) {
      keyring.keyEpoch = 1;
      laptop.keys = laptop.keys === null ? null : { ...laptop.keys, keyEpoch: 2 };
    }
    await expect(list(laptop)).rejects.toEqual(code(expected));
  });
});

describe("slots and helpers of a hostile service", () => {
  /** The service has the picture too, and made an account of its own with it. */
  async function impostor(passphrase: string | null = null): Promise<FakeAccount> {
    const world = createWorld();
    await protect(await world.open(), textSecret("Bait", shown("market", passphrase)), {});
    return world.service.account;
  }

  it("are refused by a device that holds an account key, even when everything else fits", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    await answerDevice(laptop, "own");
    await laptop.device.write({ remembered: null, locked: true });
    world.service.account = await impostor();
    const locked = await world.open();
    await expect(unlock(locked, shown("market"), {})).rejects.toEqual(code("own_key_changed"));
    expect(locked.keys).toBeNull();
  });

  it("are refused as a plain helper when a passphrase was given", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", shown("market", "a passphrase")), {});
    world.service.account = await impostor();
    await expect(unlock(await world.open("phone"), shown("market", "a passphrase"), {})).rejects.toEqual(
      code("plain_helper_refused"),
    );
  });

  it("do not get a bait opened: a slot sealed by whoever knows the recipient has no mac", async () => {
    const { world, laptop } = await twoSecrets();
    const { opener } = await recogniseImage(laptop, shown("market"), null, {});
    const forged = {
      v: 1,
      kind: "slot",
      user_id: userId,
      opener_id: opener.openerId,
      key_epoch: 1,
      account_key: toB64u(randomBytes(32)),
      mac: toB64u(randomBytes(32)),
    };
    const [slot] = keyringOf(world.service.account).slots;
    if (slot === undefined) throw new TypeError("a slot");
    slot.slot = toB64u(await sealTo([opener.recipient], documentBytes(forged)));
    const phone = await world.open("phone");
    await expect(unlock(phone, shown("market"), {})).rejects.toEqual(code("decryption_failed"));
    expect(phone.keys).toBeNull();
  });

  it("are refused when the slot is missing, or another opener's", async () => {
    const { world } = await twoSecrets();
    const keyring = keyringOf(world.service.account);
    const [slot] = keyring.slots;
    keyring.slots = [];
    await expect(unlock(await world.open("phone"), shown("market"), {})).rejects.toEqual(code("decryption_failed"));
    if (slot !== undefined) keyring.slots = [{ ...slot, kind: "passkey" }];
    await expect(unlock(await world.open("phone"), shown("market"), {})).rejects.toEqual(code("decryption_failed"));
  });

  it("stop it when a helper is broken, changed or missing", async () => {
    const { world, laptop } = await twoSecrets();
    const keyring = keyringOf(world.service.account);
    const [record] = keyring.imageRecords;
    if (record === undefined) throw new TypeError("a record");
    const phone = await world.open("phone");
    keyring.imageRecords = [{ ...record, helper: toB64u(new Uint8Array(454)) }];
    await expect(unlock(phone, shown("market"), {})).rejects.toEqual(code("decryption_failed"));
    keyring.imageRecords = [{ ...record, helper: flipLast(record.helper) }];
    await expect(unlock(phone, shown("market"), {})).rejects.toEqual(code("decryption_failed"));
    await expect(unlock(laptop, shown("market"), {})).rejects.toEqual(code("helper_changed"));
    keyring.imageRecords = [];
    await expect(unlock(phone, shown("market"), {})).rejects.toEqual(code("not_this_picture"));
    await expect(unlock(laptop, shown("market"), {})).rejects.toEqual(code("helper_changed"));
  });

  it("stop it when an unused bit of an encrypted sketch was turned: the book's digest catches it", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", shown("market", "phrase")), {});
    const [record] = keyringOf(world.service.account).imageRecords;
    if (record === undefined) throw new TypeError("a record");
    const bytes = fromB64u(record.helper);
    bytes[307] = (bytes[307] ?? 0) ^ 0x80;
    record.helper = toB64u(bytes);
    const phone = await world.open("phone");
    await expect(unlock(phone, shown("market", "phrase"), {})).rejects.toEqual(code("helper_changed"));
    expect(phone.keys).toBeNull();
  });

  it("do not open with the helper of a picture that is no opener of the book", async () => {
    const { world } = await twoSecrets();
    const secret = (await createFakeEngine().enrol(new Uint8Array(await shown("beach").picture.arrayBuffer()), []))
      .imageSecretBytes;
    const { helper } = await makeHelper(copyOf(secret), sketchFor("beach"), null);
    keyringOf(world.service.account).imageRecords.push({
      id: newId(1),
      helper: toB64u(helper),
      created_at: "2026-11-21T10:00:00.000Z",
    });
    await expect(unlock(await world.open("phone"), shown("beach"), {})).rejects.toEqual(code("decryption_failed"));
  });
});
