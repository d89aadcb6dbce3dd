import "fake-indexeddb/auto";

import { ed25519 } from "@noble/curves/ed25519.js";
import { fromBase64url, buildSignedMessage, toBase64url } from "@relicario/shared/api";

import { AccountKey } from "../seal/account-key.ts";
import { sealTo } from "../seal/age.ts";
import { copyOf, randomBytes } from "../seal/bytes.ts";
import { createHelper } from "../seal/helper.ts";
import { newId } from "../seal/ids.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { serializeDocument } from "../seal/document.ts";
import { computeStateDigest } from "../seal/state.ts";
import type { OwnerTicket } from "../seal/ticket.ts";
import type { OlderState } from "../session/checkpoints.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createFakeEngine, sketchFor } from "../testing/fake-engine.ts";
import { lastOf, touch, type FakeAccount, type FakeRow } from "../testing/fake-account.ts";
import { rewriteRow } from "../testing/rewrite-row.ts";
import { createWorld, makePicture, textSecret, userId, type World } from "../testing/world.ts";
import { exportSecrets } from "./export-secrets.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { acceptOlderState, refreshKeyring } from "../keyring/refresh-keyring.ts";
import { openSmallSecret } from "./open-secret.ts";
import { recogniseImage } from "../openers/recognise-image.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const requireKeyring = (account: FakeAccount): NonNullable<FakeAccount["keyring"]> => {
  if (account.keyring === null) throw new TypeError("no keyring");
  return account.keyring;
};
const requireRejectedState = ({ rejectedState }: VaultSession): OlderState => {
  if (rejectedState === null) throw new TypeError("no alarm");
  return rejectedState;
};
const flipLastByte = (b64u: string): string => {
  const bytes = copyOf(fromBase64url(b64u));
  bytes[bytes.length - 1] = (lastOf(bytes) ?? 0) ^ 1;
  return toBase64url(bytes);
};

/** Two secrets on an unlocked laptop; `earlier` is the service after the first. */
async function createTwoSecrets(): Promise<{
  world: World;
  laptop: VaultSession;
  earlier: FakeAccount;
  first: string;
  second: string;
}> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: first } = await protect(laptop, textSecret("First", makePicture("market")), {});
  const earlier = world.service.snapshot();
  const { secretId: second } = await protect(laptop, textSecret("Second"), {});
  return { world, laptop, earlier, first, second };
}

describe("a service that gives back an older state", () => {
  it("is stopped after one silent second reading; going on is a deliberate choice", async () => {
    const { world, laptop, earlier } = await createTwoSecrets();
    world.service.account = earlier;
    world.service.calls.length = 0;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    expect(world.service.calls.filter((call) => call === "GET /user/keyring").length).toBeGreaterThanOrEqual(2);
    await expect(refreshKeyring(laptop)).rejects.toEqual(errorWithCode("older_state"));
    await acceptOlderState(laptop, requireRejectedState(laptop));
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
  });

  it("is stopped on a locked device too, and after a reload", async () => {
    const { world, earlier } = await createTwoSecrets();
    world.service.account = earlier;
    const reloaded = await world.open();
    await expect(list(reloaded)).rejects.toEqual(errorWithCode("older_state"));
    await expect(unlock(reloaded, makePicture("market"), {})).rejects.toEqual(errorWithCode("older_state"));
  });

  it("is forgiven when the second reading is right: another device wrote in between", async () => {
    const { world, laptop, earlier } = await createTwoSecrets();
    const present = world.service.account;
    let readings = 0;
    world.service.beforeCall = (call) => {
      if (call === "GET /user/keyring") world.service.account = ++readings === 1 ? earlier : present;
    };
    expect(await list(laptop)).toHaveLength(2);
  });

  it("cannot be chosen without an alarm", async () => {
    const { world, laptop, earlier } = await createTwoSecrets();
    await acceptOlderState(laptop, {
      stateRev: 1,
      stateSha256: computeStateDigest(lastOf(requireKeyring(earlier).states)?.state ?? ""),
    });
    world.service.account = earlier;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("a service that forks the chain of states", () => {
  it("is stopped: another state of the same rev, or one that does not follow", async () => {
    const { world, laptop, earlier } = await createTwoSecrets();
    world.service.account = earlier;
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Fork"), {});
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    await protect(phone, textSecret("Further"), {});
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });

  it("is stopped at a gap in the chain", async () => {
    const { world, laptop } = await createTwoSecrets();
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Third"), {});
    await protect(phone, textSecret("Fourth"), {});
    world.service.transformAnswer = (call, answer) => {
      if (call !== "GET /user/keyring") return answer;
      const keyring = answer as { states?: unknown[] };
      return { ...keyring, ...(keyring.states === undefined ? {} : { states: keyring.states.slice(1) }) };
    };
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    world.service.transformAnswer = (call, answer) => {
      if (call !== "GET /user/keyring") return answer;
      const { states: _, ...rest } = answer as { states?: unknown };
      return rest;
    };
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    world.service.transformAnswer = (_call, answer) => answer;
    expect(await list(laptop)).toHaveLength(4);
  });
});

describe("a service that says there is no keyring", () => {
  const hideKeyring = (world: World): void => {
    requireKeyring(world.service.account);
    world.service.account.keyring = null;
  };

  it("is not believed on a device that remembers one", async () => {
    const { world, laptop } = await createTwoSecrets();
    world.service.account = { keyring: null, rows: new Map(), changes: 0 };
    await expect(refreshKeyring(laptop)).rejects.toEqual(errorWithCode("keyring_missing"));
    await expect(protect(laptop, textSecret("New", makePicture("forest")), {})).rejects.toEqual(
      errorWithCode("keyring_missing"),
    );
    await expect(refreshKeyring(await world.open())).rejects.toEqual(errorWithCode("keyring_missing"));
  });

  it("is not believed on a fresh device while labels exist", async () => {
    const { world } = await createTwoSecrets();
    hideKeyring(world);
    const phone = await world.open("phone");
    await expect(protect(phone, textSecret("New", makePicture("forest")), {})).rejects.toEqual(
      errorWithCode("keyring_missing"),
    );
    expect(phone.state.status).not.toBe("empty");
  });
});

describe("a list that does not fit the state", () => {
  const requireTwoRows = (world: World): [FakeRow, FakeRow] => {
    const [firstRow, secondRow] = [...world.service.account.rows.values()];
    if (firstRow === undefined || secondRow === undefined) throw new TypeError("two rows");
    return [firstRow, secondRow];
  };
  const latestVersion = (row: FakeRow): FakeRow["versions"][number] => {
    const version = lastOf(row.versions);
    if (version === undefined) throw new TypeError("no version");
    return version;
  };

  it.each<[string, (world: World, earlier: FakeAccount) => void]>([
    [
      "swapped labels",
      (world) => {
        const [firstRow, secondRow] = requireTwoRows(world);
        [latestVersion(firstRow).label, latestVersion(secondRow).label] = [
          latestVersion(secondRow).label,
          latestVersion(firstRow).label,
        ];
      },
    ],
    [
      "a label altered",
      (world) => {
        const [firstRow] = requireTwoRows(world);
        latestVersion(firstRow).label =
          `${latestVersion(firstRow).label.slice(0, -1)}${latestVersion(firstRow).label.endsWith("A") ? "B" : "A"}`;
      },
    ],
    [
      "a label that is none",
      (world) => {
        const [firstRow] = requireTwoRows(world);
        latestVersion(firstRow).label = "AAAA..AAAA.AAAA.AAAA";
      },
    ],
    [
      "another version",
      (world) => {
        const [firstRow] = requireTwoRows(world);
        firstRow.versions.push(latestVersion(firstRow));
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
        world.service.account.rows.set(newId(Date.now()), structuredClone(requireTwoRows(world)[0]));
      },
    ],
    [
      "rows of an older state",
      (world, earlier) => {
        world.service.account.rows = earlier.rows;
      },
    ],
  ])("is refused: %s", async (_case, tamper) => {
    const { world, laptop, earlier } = await createTwoSecrets();
    tamper(world, earlier);
    for (const row of world.service.account.rows.values()) touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
    // Locked, the same device still knows the root of the state that it remembers.
    await expect(list(await world.open())).rejects.toEqual(errorWithCode("list_mismatch"));
    await expect(protect(laptop, textSecret("Third"), {})).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it("is refused with a wrong total, an older state_rev, or pages that never end", async () => {
    const { world, laptop } = await createTwoSecrets();
    const overridePages = (change: object): void => {
      world.service.transformAnswer = (call, answer) =>
        call === "GET /secrets/store" ? { ...(answer as object), ...change } : answer;
    };
    for (const change of [{ total: 3 }, { state_rev: 1 }, { secrets: [], next_cursor: newId(1) }]) {
      overridePages(change);
      await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
    }
  });

  it("is read anew when its state changes between pages", async () => {
    const { world, laptop } = await createTwoSecrets();
    for (const title of ["Third", "Fourth"]) await protect(laptop, textSecret(title), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    laptop.list.drop(); // every page is read
    let pages = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "GET /secrets/store" || ++pages !== 2) return;
      world.service.beforeCall = () => undefined;
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
    const { world, laptop, first, second } = await createTwoSecrets();
    const { rows } = world.service.account;
    const [firstRow, secondRow] = [rows.get(first), rows.get(second)];
    if (firstRow === undefined || secondRow === undefined) throw new TypeError("two rows");
    rows.set(first, secondRow).set(second, firstRow);
    for (const row of rows.values()) touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it.each(["label", "ticket", "content"] as const)(
    "is refused: the %s of the other in what it gives of one",
    async (part) => {
      const { world, laptop, first, second } = await createTwoSecrets();
      await list(laptop);
      const otherValue = world.service.account.rows.get(second)?.versions[0]?.[part];
      world.service.transformAnswer = (call, answer) =>
        call === "POST /secrets/store/get-secret" ? { ...(answer as object), [part]: otherValue } : answer;
      await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(
        errorWithCode(part === "content" ? "decryption_failed" : "list_mismatch"),
      );
    },
  );
});

describe("a service that lies about a secret", () => {
  it.each<[string, string, (version: FakeRow["versions"][number], otherVersion: FakeRow["versions"][number]) => void]>([
    [
      "another secret's ticket",
      "list_mismatch",
      (version, otherVersion) => {
        version.ticket = otherVersion.ticket;
      },
    ],
    [
      "an altered ticket",
      "list_mismatch",
      (version) => {
        version.ticket = flipLastByte(version.ticket);
      },
    ],
    [
      "another secret's content",
      "decryption_failed",
      (version, otherVersion) => {
        version.content = otherVersion.content;
      },
    ],
    [
      "altered content",
      "decryption_failed",
      (version) => {
        version.content = flipLastByte(version.content);
      },
    ],
  ])("is refused: %s", async (_case, expected, tamper) => {
    const { world, laptop, first, second } = await createTwoSecrets();
    const [version, otherVersion] = [
      world.service.account.rows.get(first)?.versions[0],
      world.service.account.rows.get(second)?.versions[0],
    ];
    if (version === undefined || otherVersion === undefined) throw new TypeError("two rows");
    tamper(version, otherVersion);
    await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(errorWithCode(expected));
  });

  it("is refused when it answers with another label or version than it lists", async () => {
    const { world, laptop, first } = await createTwoSecrets();
    for (const change of [{ version: 2 }, { label: "AAAA..AAAA.AAAA.AAAA" }]) {
      world.service.transformAnswer = (call, answer) =>
        call === "POST /secrets/store/get-secret" ? { ...(answer as object), ...change } : answer;
      await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(
        errorWithCode("list_mismatch"),
      );
    }
  });
});

describe("a service that gives the version before for the newest", () => {
  /** The first of two secrets has two versions. */
  async function createTwoVersions() {
    const secrets = await createTwoSecrets();
    await update(
      secrets.laptop,
      secrets.first,
      {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) },
      },
      {},
    );
    const row = secrets.world.service.account.rows.get(secrets.first);
    const [previous, newest] = row?.versions ?? [];
    if (row === undefined || previous === undefined || newest === undefined) throw new TypeError("two versions");
    return { ...secrets, row, previous, newest };
  }

  it("is refused: the row as it was then", async () => {
    const { world, laptop, row } = await createTwoVersions();
    row.versions.pop();
    touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it("is refused: its label under the new number", async () => {
    const { world, laptop, row, previous, newest } = await createTwoVersions();
    newest.label = previous.label;
    touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it.each([
    ["ticket", "list_mismatch", ["ticket"]],
    ["content", "decryption_failed", ["content"]],
    ["ticket and content", "list_mismatch", ["ticket", "content"]],
    ["label, ticket and content", "list_mismatch", ["label", "ticket", "content"]],
  ] as const)("is refused: its %s", async (_case, expected, fields) => {
    const { world, laptop, first, previous } = await createTwoVersions();
    const replaced = Object.fromEntries(fields.map((part) => [part, previous[part]]));
    world.service.transformAnswer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), ...replaced } : answer;
    await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(errorWithCode(expected));
  });

  it.each([
    ["ticket", "list_mismatch"],
    ["content", "decryption_failed"],
  ] as const)("is refused the other way too: the newest %s for the version before", async (field, expected) => {
    const { world, laptop, first, newest } = await createTwoVersions();
    world.service.transformAnswer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), [field]: newest[field] } : answer;
    await expect(openSmallSecret(laptop, first, makePicture("market"), { version: 1 })).rejects.toEqual(
      errorWithCode(expected),
    );
  });
});

describe("a ticket whose digest fits", () => {
  let world: World;
  let laptop: VaultSession;
  let first: string;
  let second: string;
  let opener: OpenerKeys;
  beforeEach(async () => {
    ({ world, laptop, first, second } = await createTwoSecrets());
    ({ opener } = await recogniseImage(laptop, makePicture("market"), null, {}));
  });

  const reseal = (ticket: OwnerTicket): Promise<Uint8Array> => sealTo([opener.recipient], serializeDocument(ticket));

  it("opens as not verified when another key signed it", async () => {
    const seed = randomBytes(32);
    await rewriteRow(world, laptop, first, opener, {
      seal: (ticket) =>
        reseal({ ...ticket, sig: toBase64url(ed25519.sign(buildSignedMessage("ticket", ticket), seed)) }),
    });
    const secret = await openSmallSecret(laptop, first, makePicture("market"), {});
    expect(secret.author).toBe("not_verified");
    expect(new TextDecoder().decode(secret.content)).toBe("content of First");
    const sink = {
      write: () => Promise.resolve(),
      commit: () => Promise.resolve(new Blob()),
      discard: () => Promise.resolve(),
    };
    const parts = {
      range: () => Promise.reject(new TypeError("nothing here is large")),
      retryPolicy: { wait: () => Promise.resolve() },
      openSink: () => Promise.resolve(sink),
    };
    await expect(exportSecrets(laptop, parts, [first, second], makePicture("market"), {})).resolves.toMatchObject({
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
    ["another content", () => ({ content_sha256: toBase64url(new Uint8Array(32)) })],
  ])("is refused when it is of %s", async (_case, change) => {
    await rewriteRow(world, laptop, first, opener, { seal: (ticket) => reseal({ ...ticket, ...change(ticket) }) });
    await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it.each<[string, string, object]>([
    ["title at the same rev", "decryption_failed", { title: "Else" }],
    ["tags at the same rev", "decryption_failed", { tags: ["else"] }],
    ["file name at the same rev", "decryption_failed", { name: "else.txt" }],
    ["kind", "decryption_failed", { content_kind: "seed" }],
    ["size", "decryption_failed", { size: 1 }],
  ])("is refused when the label says another %s", async (_case, expected, label) => {
    await rewriteRow(world, laptop, first, opener, { label, seal: reseal });
    await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(errorWithCode(expected));
  });

  it("is not asked for when the label names other openers", async () => {
    await rewriteRow(world, laptop, first, opener, { label: { openers: [second] }, seal: reseal });
    world.service.calls.length = 0;
    await expect(openSmallSecret(laptop, first, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    expect(world.service.calls).not.toContain("POST /secrets/store/get-secret");
  });

  it("may be older than the label by renamings: the label is what is shown", async () => {
    await rewriteRow(world, laptop, first, opener, { rev: 2, label: { title: "Renamed" }, seal: reseal });
    const secret = await openSmallSecret(laptop, first, makePicture("market"), {});
    expect([secret.title, secret.author]).toEqual(["Renamed", "verified"]);
  });
});

describe("a keyring whose parts do not belong together", () => {
  it.each<
    [
      string,
      string,
      (current: NonNullable<FakeAccount["keyring"]>, foreign: NonNullable<FakeAccount["keyring"]>) => void,
    ]
  >([
    [
      "an older book",
      "older_state",
      (current, foreign) => {
        current.book = foreign.book;
      },
    ],
    [
      "other shares",
      "older_state",
      (current, foreign) => {
        current.shares = foreign.shares;
      },
    ],
    [
      "another key statement",
      "own_key_changed",
      (current, foreign) => {
        current.keyStatement = foreign.keyStatement;
      },
    ],
    [
      "an altered key statement",
      "own_key_changed",
      (current) => {
        current.keyStatement = { ...current.keyStatement, sig: flipLastByte(current.keyStatement.sig) };
      },
    ],
    [
      "an older generation",
      "older_state",
      (current) => {
        current.keyEpoch = 0;
      },
    ],
  ])("is refused: %s", async (_case, expected, tamper) => {
    const { world, laptop } = await createTwoSecrets();
    const view = await refreshKeyring(laptop);
    if (view?.openedKeyring == null) throw new TypeError("unlocked");
    const otherWorld = createWorld();
    await protect(await otherWorld.open(), textSecret("Other", makePicture("market")), {});
    const keyring = requireKeyring(world.service.account);
    tamper(keyring, requireKeyring(otherWorld.service.account));
    if (keyring.keyEpoch === 0) {
      keyring.keyEpoch = 1;
      await laptop.unlock(
        view.keyring,
        {
          openedKeyring: { ...view.openedKeyring, keys: { ...view.openedKeyring.keys, keyEpoch: 2 } },
          openers: null,
        },
        AccountKey.generate(2),
      );
    }
    await expect(list(laptop)).rejects.toEqual(errorWithCode(expected));
  });
});

describe("slots and helpers of a hostile service", () => {
  /** The service has the picture too, and made an account of its own with it. */
  async function createImpostorAccount(passphrase: string | null = null): Promise<FakeAccount> {
    const world = createWorld();
    await protect(await world.open(), textSecret("Bait", makePicture("market", passphrase)), {});
    return world.service.account;
  }

  it("are refused by a device that holds an account key, even when everything else fits", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await setDeviceKind(laptop, "own");
    await laptop.device.write({ remembered: null, locked: true });
    world.service.account = await createImpostorAccount();
    const locked = await world.open();
    await expect(unlock(locked, makePicture("market"), {})).rejects.toEqual(errorWithCode("own_key_changed"));
    expect(locked.keys).toBeNull();
  });

  it("are refused as a plain helper when a passphrase was given", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market", "a passphrase")), {});
    world.service.account = await createImpostorAccount();
    await expect(unlock(await world.open("phone"), makePicture("market", "a passphrase"), {})).rejects.toEqual(
      errorWithCode("plain_helper_refused"),
    );
  });

  it("do not get a bait opened: a slot sealed by whoever knows the recipient has no mac", async () => {
    const { world, laptop } = await createTwoSecrets();
    const { opener } = await recogniseImage(laptop, makePicture("market"), null, {});
    const forged = {
      v: 1,
      kind: "slot",
      user_id: userId,
      opener_id: opener.openerId,
      key_epoch: 1,
      account_key: toBase64url(randomBytes(32)),
      mac: toBase64url(randomBytes(32)),
    };
    const [slot] = requireKeyring(world.service.account).slots;
    if (slot === undefined) throw new TypeError("a slot");
    slot.slot = toBase64url(await sealTo([opener.recipient], serializeDocument(forged)));
    const phone = await world.open("phone");
    await expect(unlock(phone, makePicture("market"), {})).rejects.toEqual(errorWithCode("decryption_failed"));
    expect(phone.keys).toBeNull();
  });

  it("are refused when the slot is missing, or another opener's", async () => {
    const { world } = await createTwoSecrets();
    const keyring = requireKeyring(world.service.account);
    const [slot] = keyring.slots;
    keyring.slots = [];
    await expect(unlock(await world.open("phone"), makePicture("market"), {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
    if (slot !== undefined) keyring.slots = [{ ...slot, kind: "passkey" }];
    await expect(unlock(await world.open("phone"), makePicture("market"), {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it("stop it when a helper is broken, changed or missing", async () => {
    const { world, laptop } = await createTwoSecrets();
    const keyring = requireKeyring(world.service.account);
    const [record] = keyring.imageRecords;
    if (record === undefined) throw new TypeError("a record");
    const phone = await world.open("phone");
    keyring.imageRecords = [{ ...record, helper: toBase64url(new Uint8Array(454)) }];
    await expect(unlock(phone, makePicture("market"), {})).rejects.toEqual(errorWithCode("decryption_failed"));
    keyring.imageRecords = [{ ...record, helper: flipLastByte(record.helper) }];
    await expect(unlock(phone, makePicture("market"), {})).rejects.toEqual(errorWithCode("decryption_failed"));
    await expect(unlock(laptop, makePicture("market"), {})).rejects.toEqual(errorWithCode("helper_changed"));
    keyring.imageRecords = [];
    await expect(unlock(phone, makePicture("market"), {})).rejects.toEqual(errorWithCode("not_this_picture"));
    await expect(unlock(laptop, makePicture("market"), {})).rejects.toEqual(errorWithCode("helper_changed"));
  });

  it("stop it when an unused bit of an encrypted sketch was turned: the book's digest catches it", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market", "phrase")), {});
    const [record] = requireKeyring(world.service.account).imageRecords;
    if (record === undefined) throw new TypeError("a record");
    const bytes = fromBase64url(record.helper);
    bytes[307] = (bytes[307] ?? 0) ^ 0x80;
    record.helper = toBase64url(bytes);
    const phone = await world.open("phone");
    await expect(unlock(phone, makePicture("market", "phrase"), {})).rejects.toEqual(errorWithCode("helper_changed"));
    expect(phone.keys).toBeNull();
  });

  it("do not open with the helper of a picture that is no opener of the book", async () => {
    const { world } = await createTwoSecrets();
    const secret = (
      await createFakeEngine().enrol(new Uint8Array(await makePicture("beach").picture.arrayBuffer()), [])
    ).imageSecretBytes;
    const { helper } = await createHelper(copyOf(secret), sketchFor("beach"), null);
    requireKeyring(world.service.account).imageRecords.push({
      id: newId(1),
      helper: toBase64url(helper),
      created_at: "2026-11-21T10:00:00.000Z",
    });
    await expect(unlock(await world.open("phone"), makePicture("beach"), {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });
});
