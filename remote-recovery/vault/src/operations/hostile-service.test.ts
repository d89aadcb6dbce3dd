import "fake-indexeddb/auto";

import { ed25519 } from "@noble/curves/ed25519.js";
import { fromBase64url, toBase64url } from "@relicario/shared/api";
import { buildSignedMessage } from "@relicario/shared/api/signatures";

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
import { createFakeEngine, createFakeSketch } from "../testing/fake-engine.ts";
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

const errorWithCode = (expectedCode: string): unknown => expect.objectContaining({ code: expectedCode });
const requireKeyring = (account: FakeAccount): NonNullable<FakeAccount["keyring"]> => {
  if (account.keyring === null) throw new TypeError("expected a keyring");
  return account.keyring;
};
const requireRejectedState = ({ rejectedState }: VaultSession): OlderState => {
  if (rejectedState === null) throw new TypeError("expected a rejected state");
  return rejectedState;
};
const flipLastByte = (b64u: string): string => {
  const bytes = copyOf(fromBase64url(b64u));
  bytes[bytes.length - 1] = (lastOf(bytes) ?? 0) ^ 1;
  return toBase64url(bytes);
};

/** Creates two secrets on an unlocked device. `earlierAccount` is the account before the second. */
async function createTwoSecrets(): Promise<{
  world: World;
  laptop: VaultSession;
  earlierAccount: FakeAccount;
  firstId: string;
  secondId: string;
}> {
  const world = createWorld();
  const laptop = await world.open();
  const { secretId: firstId } = await protect(laptop, textSecret("First", makePicture("market")), {});
  const earlierAccount = world.service.snapshot();
  const { secretId: secondId } = await protect(laptop, textSecret("Second"), {});
  return { world, laptop, earlierAccount, firstId, secondId };
}

describe("a service that returns an older state", () => {
  it("is detected after one silent repetition; the person may then accept the state", async () => {
    const { world, laptop, earlierAccount } = await createTwoSecrets();
    world.service.account = earlierAccount;
    world.service.calls.length = 0;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    expect(world.service.calls.filter((call) => call === "GET /user/keyring").length).toBeGreaterThanOrEqual(2);
    await expect(refreshKeyring(laptop)).rejects.toEqual(errorWithCode("older_state"));
    await acceptOlderState(laptop, requireRejectedState(laptop));
    expect((await list(laptop)).map((row) => row.label?.title)).toEqual(["First"]);
  });

  it("is also detected on a locked device, and after a reload", async () => {
    const { world, earlierAccount } = await createTwoSecrets();
    world.service.account = earlierAccount;
    const reloaded = await world.open();
    await expect(list(reloaded)).rejects.toEqual(errorWithCode("older_state"));
    await expect(unlock(reloaded, makePicture("market"), {})).rejects.toEqual(errorWithCode("older_state"));
  });

  it("is not reported if the repetition is right, because another device wrote in between", async () => {
    const { world, laptop, earlierAccount } = await createTwoSecrets();
    const currentAccount = world.service.account;
    let readings = 0;
    world.service.beforeCall = (call) => {
      if (call === "GET /user/keyring") world.service.account = ++readings === 1 ? earlierAccount : currentAccount;
    };
    expect(await list(laptop)).toHaveLength(2);
  });

  it("cannot have a state accepted that was not rejected before", async () => {
    const { world, laptop, earlierAccount } = await createTwoSecrets();
    await acceptOlderState(laptop, {
      stateRev: 1,
      stateSha256: computeStateDigest(lastOf(requireKeyring(earlierAccount).states)?.state ?? ""),
    });
    world.service.account = earlierAccount;
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });
});

describe("a service that forks the chain of states", () => {
  it("is detected: another state of the same rev, or one that does not follow", async () => {
    const { world, laptop, earlierAccount } = await createTwoSecrets();
    world.service.account = earlierAccount;
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Fork"), {});
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    await protect(phone, textSecret("Further"), {});
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
  });

  it("is detected at a gap in the chain", async () => {
    const { world, laptop } = await createTwoSecrets();
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Third"), {});
    await protect(phone, textSecret("Fourth"), {});
    world.service.transformResponse = (call, response) => {
      if (call !== "GET /user/keyring") return response;
      const keyring = response as { states?: unknown[] };
      return { ...keyring, ...(keyring.states === undefined ? {} : { states: keyring.states.slice(1) }) };
    };
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    world.service.transformResponse = (call, response) => {
      if (call !== "GET /user/keyring") return response;
      const { states: _, ...rest } = response as { states?: unknown };
      return rest;
    };
    await expect(list(laptop)).rejects.toEqual(errorWithCode("older_state"));
    world.service.transformResponse = (_call, response) => response;
    expect(await list(laptop)).toHaveLength(4);
  });
});

describe("a service that claims that there is no keyring", () => {
  const hideKeyring = (world: World): void => {
    requireKeyring(world.service.account);
    world.service.account.keyring = null;
  };

  it("is not trusted on a device with a checkpoint", async () => {
    const { world, laptop } = await createTwoSecrets();
    world.service.account = { keyring: null, rows: new Map(), changes: 0 };
    await expect(refreshKeyring(laptop)).rejects.toEqual(errorWithCode("keyring_missing"));
    await expect(protect(laptop, textSecret("New", makePicture("forest")), {})).rejects.toEqual(
      errorWithCode("keyring_missing"),
    );
    await expect(refreshKeyring(await world.open())).rejects.toEqual(errorWithCode("keyring_missing"));
  });

  it("is not trusted on a new device while labels exist", async () => {
    const { world } = await createTwoSecrets();
    hideKeyring(world);
    const phone = await world.open("phone");
    await expect(protect(phone, textSecret("New", makePicture("forest")), {})).rejects.toEqual(
      errorWithCode("keyring_missing"),
    );
    expect(phone.state.status).not.toBe("empty");
  });
});

describe("a list that does not match the state", () => {
  const requireTwoRows = (world: World): [FakeRow, FakeRow] => {
    const [firstRow, secondRow] = [...world.service.account.rows.values()];
    if (firstRow === undefined || secondRow === undefined) throw new TypeError("expected two rows");
    return [firstRow, secondRow];
  };
  const latestVersion = (row: FakeRow): FakeRow["versions"][number] => {
    const version = lastOf(row.versions);
    if (version === undefined) throw new TypeError("expected a version");
    return version;
  };

  it.each<[string, (world: World, earlierAccount: FakeAccount) => void]>([
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
      "a malformed label",
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
      (world, earlierAccount) => {
        world.service.account.rows = earlierAccount.rows;
      },
    ],
  ])("is refused: %s", async (_case, tamper) => {
    const { world, laptop, earlierAccount } = await createTwoSecrets();
    tamper(world, earlierAccount);
    for (const row of world.service.account.rows.values()) touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
    // the locked device still has the root in its checkpoint
    await expect(list(await world.open())).rejects.toEqual(errorWithCode("list_mismatch"));
    await expect(protect(laptop, textSecret("Third"), {})).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it("is refused with a wrong total, an older state_rev, or endless pages", async () => {
    const { world, laptop } = await createTwoSecrets();
    const overridePages = (change: object): void => {
      world.service.transformResponse = (call, response) =>
        call === "GET /secrets/store" ? { ...(response as object), ...change } : response;
    };
    for (const change of [{ total: 3 }, { state_rev: 1 }, { secrets: [], next_cursor: newId(1) }]) {
      overridePages(change);
      await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
    }
  });

  it("is read again when the state changes between pages", async () => {
    const { world, laptop } = await createTwoSecrets();
    for (const title of ["Third", "Fourth"]) await protect(laptop, textSecret(title), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    laptop.listCache.drop(); // so that every page is read
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
  it("is refused when whole rows have each other's id", async () => {
    const { world, laptop, firstId, secondId } = await createTwoSecrets();
    const { rows } = world.service.account;
    const [firstRow, secondRow] = [rows.get(firstId), rows.get(secondId)];
    if (firstRow === undefined || secondRow === undefined) throw new TypeError("expected two rows");
    rows.set(firstId, secondRow).set(secondId, firstRow);
    for (const row of rows.values()) touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it.each(["label", "ticket", "content"] as const)("is refused with the %s of the other secret", async (part) => {
    const { world, laptop, firstId, secondId } = await createTwoSecrets();
    await list(laptop);
    const otherValue = world.service.account.rows.get(secondId)?.versions[0]?.[part];
    world.service.transformResponse = (call, response) =>
      call === "POST /secrets/store/get-secret" ? { ...(response as object), [part]: otherValue } : response;
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode(part === "content" ? "decryption_failed" : "list_mismatch"),
    );
  });
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
  ])("is refused: %s", async (_case, expectedCode, tamper) => {
    const { world, laptop, firstId, secondId } = await createTwoSecrets();
    const [version, otherVersion] = [
      world.service.account.rows.get(firstId)?.versions[0],
      world.service.account.rows.get(secondId)?.versions[0],
    ];
    if (version === undefined || otherVersion === undefined) throw new TypeError("expected two rows");
    tamper(version, otherVersion);
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode(expectedCode),
    );
  });

  it("is refused when it returns another label or version than it lists", async () => {
    const { world, laptop, firstId } = await createTwoSecrets();
    for (const change of [{ version: 2 }, { label: "AAAA..AAAA.AAAA.AAAA" }]) {
      world.service.transformResponse = (call, response) =>
        call === "POST /secrets/store/get-secret" ? { ...(response as object), ...change } : response;
      await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
        errorWithCode("list_mismatch"),
      );
    }
  });
});

describe("a service that returns a former version as the newest", () => {
  /** The first of two secrets has two versions. */
  async function createTwoVersions() {
    const secrets = await createTwoSecrets();
    await update(
      secrets.laptop,
      secrets.firstId,
      {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) },
      },
      {},
    );
    const row = secrets.world.service.account.rows.get(secrets.firstId);
    const [previous, newest] = row?.versions ?? [];
    if (row === undefined || previous === undefined || newest === undefined)
      throw new TypeError("expected two versions");
    return { ...secrets, row, previous, newest };
  }

  it("is refused with the former row", async () => {
    const { world, laptop, row } = await createTwoVersions();
    row.versions.pop();
    touch(world.service.account, row);
    await expect(list(laptop)).rejects.toEqual(errorWithCode("list_mismatch"));
  });

  it("is refused with the former label under the new number", async () => {
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
  ] as const)("is refused with the former %s", async (_case, expectedCode, fields) => {
    const { world, laptop, firstId, previous } = await createTwoVersions();
    const replaced = Object.fromEntries(fields.map((part) => [part, previous[part]]));
    world.service.transformResponse = (call, response) =>
      call === "POST /secrets/store/get-secret" ? { ...(response as object), ...replaced } : response;
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode(expectedCode),
    );
  });

  it.each([
    ["ticket", "list_mismatch"],
    ["content", "decryption_failed"],
  ] as const)("is refused with the newest %s for the former version", async (field, expectedCode) => {
    const { world, laptop, firstId, newest } = await createTwoVersions();
    world.service.transformResponse = (call, response) =>
      call === "POST /secrets/store/get-secret" ? { ...(response as object), [field]: newest[field] } : response;
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), { version: 1 })).rejects.toEqual(
      errorWithCode(expectedCode),
    );
  });
});

describe("a ticket with a matching digest", () => {
  let world: World;
  let laptop: VaultSession;
  let firstId: string;
  let secondId: string;
  let opener: OpenerKeys;
  beforeEach(async () => {
    ({ world, laptop, firstId, secondId } = await createTwoSecrets());
    ({ opener } = await recogniseImage(laptop, makePicture("market"), null, {}));
  });

  const reseal = (ticket: OwnerTicket): Promise<Uint8Array> => sealTo([opener.recipient], serializeDocument(ticket));

  it("opens as not verified when another key has signed the ticket", async () => {
    const seed = randomBytes(32);
    await rewriteRow(world, laptop, firstId, opener, {
      seal: (ticket) =>
        reseal({ ...ticket, sig: toBase64url(ed25519.sign(buildSignedMessage("ticket", ticket), seed)) }),
    });
    const secret = await openSmallSecret(laptop, firstId, makePicture("market"), {});
    expect(secret.signatureStatus).toBe("not_verified");
    expect(new TextDecoder().decode(secret.content)).toBe("content of First");
    const sink = {
      write: () => Promise.resolve(),
      commit: () => Promise.resolve(new Blob()),
      discard: () => Promise.resolve(),
    };
    const exportDeps = {
      range: () => Promise.reject(new TypeError("expected a small content")),
      retryPolicy: { wait: () => Promise.resolve() },
      openSink: () => Promise.resolve(sink),
    };
    await expect(
      exportSecrets(laptop, exportDeps, [firstId, secondId], makePicture("market"), {}),
    ).resolves.toMatchObject({
      exportedCount: 2,
      unverifiedIds: [firstId],
    });
  });

  it.each<[string, (ticket: OwnerTicket) => Partial<OwnerTicket>]>([
    ["another secret", () => ({ secret_id: secondId })],
    ["another version", () => ({ version: 2 })],
    ["a later rev than the label's", () => ({ rev: 2 })],
    ["another owner", () => ({ owner: secondId })],
    ["another title at the same rev", () => ({ title: "Else" })],
    ["other tags at the same rev", () => ({ tags: [] })],
    ["another file name at the same rev", () => ({ name: "else.txt" })],
    ["another kind", () => ({ content_kind: "seed" })],
    ["another size", ({ size }) => ({ size: size + 1 })],
    ["another content", () => ({ content_sha256: toBase64url(new Uint8Array(32)) })],
  ])("is refused when it is of %s", async (_case, change) => {
    await rewriteRow(world, laptop, firstId, opener, { seal: (ticket) => reseal({ ...ticket, ...change(ticket) }) });
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
  });

  it.each<[string, string, object]>([
    ["title at the same rev", "decryption_failed", { title: "Else" }],
    ["tags at the same rev", "decryption_failed", { tags: ["else"] }],
    ["file name at the same rev", "decryption_failed", { name: "else.txt" }],
    ["kind", "decryption_failed", { content_kind: "seed" }],
    ["size", "decryption_failed", { size: 1 }],
  ])("is refused when the label states another %s", async (_case, expectedCode, label) => {
    await rewriteRow(world, laptop, firstId, opener, { label, seal: reseal });
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode(expectedCode),
    );
  });

  it("is not fetched when the label names other openers", async () => {
    await rewriteRow(world, laptop, firstId, opener, { label: { openers: [secondId] }, seal: reseal });
    world.service.calls.length = 0;
    await expect(openSmallSecret(laptop, firstId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    expect(world.service.calls).not.toContain("POST /secrets/store/get-secret");
  });

  it("may be older than a renamed label: both titles are shown", async () => {
    await rewriteRow(world, laptop, firstId, opener, { rev: 2, label: { title: "Renamed" }, seal: reseal });
    const secret = await openSmallSecret(laptop, firstId, makePicture("market"), {});
    expect([secret.title, secret.signatureStatus]).toEqual(["Renamed", "verified"]);
    expect(secret.signedTitle).toBe("First");
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
      "an older key epoch",
      "older_state",
      (current) => {
        current.keyEpoch = 0;
      },
    ],
  ])("is refused: %s", async (_case, expectedCode, tamper) => {
    const { world, laptop } = await createTwoSecrets();
    const view = await refreshKeyring(laptop);
    if (view?.openedKeyring == null) throw new TypeError("expected the vault to be unlocked");
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
          inner: null,
        },
        AccountKey.generate(2),
      );
    }
    await expect(list(laptop)).rejects.toEqual(errorWithCode(expectedCode));
  });
});

describe("slots and helpers of a hostile service", () => {
  /** Creates another account, like a service that also has the picture. */
  async function createImpostorAccount(passphrase: string | null = null): Promise<FakeAccount> {
    const world = createWorld();
    await protect(await world.open(), textSecret("Bait", makePicture("market", passphrase)), {});
    return world.service.account;
  }

  it("are refused by a device that knows the account's keys, even if everything else matches", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await setDeviceKind(laptop, "own");
    await laptop.device.write({ remembered: null, locked: true });
    world.service.account = await createImpostorAccount();
    const lockedVault = await world.open();
    await expect(unlock(lockedVault, makePicture("market"), {})).rejects.toEqual(errorWithCode("own_key_changed"));
    expect(lockedVault.keys).toBeNull();
  });

  it("are refused as a plain helper when a passphrase was given", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market", "a passphrase")), {});
    world.service.account = await createImpostorAccount();
    await expect(unlock(await world.open("phone"), makePicture("market", "a passphrase"), {})).rejects.toEqual(
      errorWithCode("plain_helper_refused"),
    );
  });

  it("cannot include a forged slot: knowing the recipient gives no valid mac", async () => {
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
    if (slot === undefined) throw new TypeError("expected a slot");
    slot.slot = toBase64url(await sealTo([opener.recipient], serializeDocument(forged)));
    const phone = await world.open("phone");
    await expect(unlock(phone, makePicture("market"), {})).rejects.toEqual(errorWithCode("decryption_failed"));
    expect(phone.keys).toBeNull();
  });

  it("are refused when the slot is missing or another opener's", async () => {
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

  it("are refused when a helper is broken, changed or missing", async () => {
    const { world, laptop } = await createTwoSecrets();
    const keyring = requireKeyring(world.service.account);
    const [record] = keyring.imageRecords;
    if (record === undefined) throw new TypeError("expected an image record");
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

  it("are refused when an unused bit of an encrypted sketch was flipped, because the book has the helper's digest", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market", "a passphrase")), {});
    const [record] = requireKeyring(world.service.account).imageRecords;
    if (record === undefined) throw new TypeError("expected an image record");
    const bytes = fromBase64url(record.helper);
    bytes[307] = (bytes[307] ?? 0) ^ 0x80;
    record.helper = toBase64url(bytes);
    const phone = await world.open("phone");
    await expect(unlock(phone, makePicture("market", "a passphrase"), {})).rejects.toEqual(
      errorWithCode("helper_changed"),
    );
    expect(phone.keys).toBeNull();
  });

  it("are refused with the helper of a picture that is not an opener", async () => {
    const { world } = await createTwoSecrets();
    const secret = (
      await createFakeEngine().enrol(new Uint8Array(await makePicture("beach").picture.arrayBuffer()), [])
    ).imageSecretBytes;
    const { helper } = await createHelper(copyOf(secret), createFakeSketch("beach"), null);
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
