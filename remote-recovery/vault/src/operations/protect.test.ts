import "fake-indexeddb/auto";

import { contentKinds, fromBase64url, maxSmallContentBytes, maxSmallSealedBytes } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { bech32 } from "@scure/base";

import { encodeIdentity } from "../seal/age.ts";
import { copyOf, sha256, utf8 } from "../seal/bytes.ts";
import { unwrapImageRootKey, parseHelper, extractSketch } from "../seal/helper.ts";
import { openTicket } from "../seal/ticket.ts";
import { lastOf } from "../testing/fake-account.ts";
import { createFakeSketch } from "../testing/fake-engine.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { maxConflictTries } from "../keyring/publish.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { openSmallSecret } from "./open-secret.ts";
import { unlock } from "../openers/unlock.ts";

const errorWithCode = (expectedCode: string): unknown => expect.objectContaining({ code: expectedCode });
const countStores = (world: World): number =>
  world.service.calls.filter((call) => call === "POST /secrets/store").length;
const readTitles = async (vault: Parameters<typeof list>[0]): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title);

/**
 * Decodes all base64, base64url and hex in a text, from each offset at which a group could start.
 */
function decodeAll(text: string): readonly Buffer[] {
  const decodeStretches = (pattern: RegExp, encoding: "base64" | "hex", offsets: readonly number[]): Buffer[] =>
    (text.match(pattern) ?? []).flatMap((match) => offsets.map((start) => Buffer.from(match.slice(start), encoding)));
  return [
    Buffer.from(text, "latin1"),
    ...decodeStretches(/[A-Za-z0-9+/]{20,}/g, "base64", [0, 1, 2, 3]),
    ...decodeStretches(/[A-Za-z0-9_-]{20,}/g, "base64", [0, 1, 2, 3]),
    ...decodeStretches(/[0-9a-f]{20,}/gi, "hex", [0, 1]),
  ];
}

/** Lets the service store the secret, then fails every later call. */
function failAfterStoring(world: World): void {
  let isAway = false;
  world.service.transformResponse = (call, response) => {
    isAway ||= call === "POST /secrets/store";
    if (isAway) throw new PortalError("service_unavailable");
    return response;
  };
}

function restoreService(world: World): void {
  world.service.transformResponse = (_call, response) => response;
}

describe("the first secret", () => {
  it("is published in one call, and keeps the account key only after publication", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market", "a passphrase")), {});
    expect(countStores(world)).toBe(1);
    const { keyring, rows } = world.service.account;
    expect(keyring).toMatchObject({
      keyEpoch: 1,
      slots: [{ kind: "image" }],
      imageRecords: [{ id: keyring?.slots[0]?.opener_id }],
    });
    expect(keyring?.states).toHaveLength(1);
    expect(rows.size).toBe(1);
    expect(fromBase64url(keyring?.imageRecords[0]?.helper ?? "")[6]).toBe(3);
    const record = await laptop.device.read();
    expect(record).toMatchObject({ pending: null, sketches: null, remembered: { stateRev: 1, count: 1 } });
  });

  it("sends nothing that the server could read", async () => {
    const world = createWorld();
    const sentinel = "zebra-crossing-quartz";
    const request = {
      ...textSecret(sentinel, makePicture("market", sentinel), sentinel),
      tags: [sentinel],
      name: `${sentinel}.txt`,
      mime: `text/${sentinel}`,
    };
    await protect(await world.open(), request, {});
    const sentText = JSON.stringify(world.service.bodies);
    const encodedForms = [
      sentinel,
      ...[0, 1, 2].map((offset) =>
        Buffer.from(" ".repeat(offset) + sentinel)
          .toString("base64url")
          .slice(4, -4),
      ),
    ];
    const allText =
      sentText + sentText.replace(/[A-Za-z0-9_-]{20,}/g, (b64u) => Buffer.from(b64u, "base64url").toString("latin1"));
    for (const form of encodedForms) expect(allText).not.toContain(form);
    expect(allText).not.toContain("AGE-SECRET-KEY");
  });

  it("sends no key, image secret or identity and nothing of the picture, in any encoding", async () => {
    const world = createWorld();
    const picture = `market/${Buffer.from(Array.from({ length: 4 }, (_, index) => [...sha256(utf8(String(index)))]).flat()).toString("base64")}`;
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture(picture, "a passphrase")), {});
    await protect(laptop, textSecret("Second"), {});
    const phone = await world.open("phone");
    const { opener } = await unlock(phone, makePicture(picture, "a passphrase"), {});
    await protect(phone, textSecret("Third", makePicture("forest")), {});

    const { accountKey } = laptop;
    if (accountKey === null) throw new Error("expected an account key");
    const match = await world.engine.recover(utf8(`photo:${picture}`), [createFakeSketch("market")]);
    if (match.outcome !== "recovered") throw new Error("expected the picture to be recovered");
    const helper = parseHelper(fromBase64url(world.service.account.keyring?.imageRecords[0]?.helper ?? ""));
    const [row] = world.service.account.rows.values();
    const ticket = await openTicket(opener, fromBase64url(row?.versions[0]?.ticket ?? ""));
    const seedOf = (identity: string): Uint8Array => bech32.decodeToBytes(identity).bytes;
    const identitySeed = accountKey.derive("relicario/v1/identity");
    const secrets: Record<string, Uint8Array> = {
      "account key": accountKey.withBytes(copyOf),
      "image secret": match.imageSecretBytes,
      "image root key": await unwrapImageRootKey(
        helper,
        await extractSketch(helper, "a passphrase"),
        copyOf(match.imageSecretBytes),
        "a passphrase",
      ),
      "identity of the image": utf8(opener.identity),
      "seed of the image's identity": seedOf(opener.identity),
      "key of the slot's mac": opener.slotAuth,
      "identity of the account": utf8(encodeIdentity(identitySeed)),
      "seed of the account's identity": identitySeed,
      "signing seed": accountKey.derive("relicario/v1/sign"),
      "identity of the content": utf8(ticket.content_identity),
      "seed of the content's identity": seedOf(ticket.content_identity),
    };
    for (let offset = 0; offset + 16 <= picture.length; offset += 16)
      secrets[`picture from ${String(offset)}`] = utf8(picture.slice(offset, offset + 16));
    const needles = Object.entries(secrets).map(([name, bytes]) => [name, Buffer.from(bytes)] as const);
    const findLeaks = (text: string): string[] => {
      const decodedParts = decodeAll(text);
      return needles.filter(([, bytes]) => decodedParts.some((part) => part.includes(bytes))).map(([name]) => name);
    };
    expect(needles.every(([, bytes]) => bytes.length >= 16)).toBe(true);
    const sentText = [...world.service.calls, JSON.stringify(world.service.bodies)].join(" ");
    expect(findLeaks(sentText)).toEqual([]);

    // Proves that the search would find each value in every encoding.
    for (const [name, bytes] of needles) {
      for (const offset of [0, 1, 2]) {
        const surrounded = Buffer.concat([Buffer.alloc(offset, "."), bytes]);
        for (const encoding of ["latin1", "base64", "base64url", "hex"] as const)
          expect(findLeaks(`{"x":"${surrounded.toString(encoding)}"}`)).toEqual([name]);
      }
    }
  });

  it("needs a picture, because there is no opener yet", async () => {
    const world = createWorld();
    await expect(protect(await world.open(), textSecret("First"), {})).rejects.toEqual(errorWithCode("opener_needed"));
    expect(countStores(world)).toBe(0);
  });

  it("is published once when responses are lost, by sending the same bytes again", async () => {
    const world = createWorld();
    let lostResponses = 0;
    world.service.transformResponse = (call, response) => {
      if (call === "POST /secrets/store" && lostResponses++ < 2) throw new PortalError("service_unavailable");
      return response;
    };
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    expect(countStores(world)).toBe(3);
    expect(new Set(world.service.bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(await readTitles(laptop)).toEqual(["First"]);
  });
});

describe("repeatedly lost responses", () => {
  it.each([
    ["the first secret", false],
    ["a later one", true],
  ])("do not lose %s, which the list shows", async (_case, isLater) => {
    const world = createWorld();
    const laptop = await world.open();
    if (isLater) await protect(laptop, textSecret("First", makePicture("market")), {});
    world.service.transformResponse = (call, response) => {
      if (call === "POST /secrets/store") throw new PortalError("service_unavailable");
      return response;
    };
    const { secretId } = await protect(
      laptop,
      isLater ? textSecret("Second") : textSecret("First", makePicture("market")),
      {},
    );
    expect((await list(laptop)).map((row) => row.secretId)).toContain(secretId);
    expect(laptop.state.status).toBe("unlocked");
  });

  it("make the operation fail when it was not published", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("service_unavailable");
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(errorWithCode("service_unavailable"));
    expect(await readTitles(laptop)).toEqual(["First"]);
  });
});

describe("after a crash at the first secret", () => {
  it("opens a keyring of the pending keys with the picture, after a reload", async () => {
    const world = createWorld();
    failAfterStoring(world);
    const firstSession = await world.open();
    await expect(protect(firstSession, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("service_unavailable"),
    );
    expect(firstSession.keys).toBeNull(); // a pending account key is not kept
    restoreService(world);
    const reloaded = await world.open();
    expect(await readTitles(reloaded)).toEqual([undefined]);
    expect(reloaded.state).toEqual({ status: "locked" });
    expect((await reloaded.device.read()).pending).toBeNull();
    (await unlock(reloaded, makePicture("market"), {})).opener.wipe();
    expect(await readTitles(reloaded)).toEqual(["First"]);
  });

  it("opens the pending account with the picture when there is no keyring, and enrols nothing twice", async () => {
    const world = createWorld();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    const firstSession = await world.open();
    await expect(protect(firstSession, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("offline"),
    );
    const { pending, sketches } = await firstSession.device.read();
    expect([pending, sketches]).not.toContain(null);
    world.service.beforeCall = () => undefined;
    world.engine.calls.length = 0;
    const reloaded = await world.open();
    await protect(reloaded, textSecret("First", makePicture("market/small")), {});
    expect(world.engine.calls).toEqual(["recover among 1"]);
    expect(world.service.account.keyring?.keyStatement.recipient).toBe(reloaded.keys?.recipient);
    expect(await reloaded.device.read()).toMatchObject({ pending: null, sketches: null });
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect(await readTitles(phone)).toEqual(["First"]);
  });

  it("refuses a copy that only resembles the pending picture", async () => {
    const world = createWorld();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    const laptop = await world.open();
    await expect(protect(laptop, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("offline"),
    );
    await expect(protect(laptop, textSecret("First", makePicture("market/cropped")), {})).rejects.toEqual(
      errorWithCode("picture_resembles_another"),
    );
  });

  it("requires a passphrase again for a picture that needed one", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    await expect(protect(laptop, textSecret("Second", makePicture("pale-sand", "a passphrase")), {})).rejects.toEqual(
      errorWithCode("offline"),
    );
    world.service.beforeCall = () => undefined;
    await expect(protect(laptop, textSecret("Second", makePicture("pale-sand")), {})).rejects.toEqual(
      errorWithCode("picture_needs_passphrase"),
    );
    await protect(laptop, textSecret("Second", makePicture("pale-sand", "nine stones")), {});
    expect(await readTitles(laptop)).toEqual(["First", "Second"]);
  });

  it("drops the pending key and reports this once when another device's keyring supersedes it", async () => {
    const world = createWorld();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    await expect(protect(await world.open(), textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("offline"),
    );
    world.service.beforeCall = () => undefined;
    await protect(await world.open("phone"), textSecret("Phone", makePicture("forest")), {});
    const laptop = await world.open();
    await expect(refreshKeyring(laptop)).rejects.toEqual(errorWithCode("pending_dropped"));
    expect(laptop.state).toEqual({ status: "locked" });
    expect((await laptop.device.read()).pending).toBeNull();
    await expect(refreshKeyring(laptop)).resolves.toMatchObject({ openedKeyring: null });
  });
});

describe("two devices that protect the first secret at the same time", () => {
  const race = async (
    onPhone: string,
    onLaptop: string,
  ): Promise<{ world: World; laptop: Awaited<ReturnType<World["open"]>>; outcome: unknown }> => {
    const world = createWorld();
    const laptop = await world.open();
    const phone = await world.open("phone");
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store") return;
      world.service.beforeCall = () => undefined;
      await protect(phone, textSecret("Phone", makePicture(onPhone)), {});
    };
    const outcome = await protect(laptop, textSecret("Laptop", makePicture(onLaptop)), {}).catch(
      (error: unknown) => error,
    );
    return { world, laptop, outcome };
  };

  it("end in one account when the presented picture opens the first account", async () => {
    const { world, laptop, outcome } = await race("market", "market/small");
    expect(outcome).toMatchObject({ version: 1 });
    expect((await readTitles(laptop)).toSorted()).toEqual(["Laptop", "Phone"]);
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await laptop.device.read()).pending).toBeNull();
  });

  it("report pending_dropped when the presented picture does not open the first account, and publish nothing of the second", async () => {
    const { world, laptop, outcome } = await race("market", "forest");
    expect(outcome).toEqual(errorWithCode("pending_dropped"));
    expect(world.service.account.rows.size).toBe(1);
    expect(laptop.keys).toBeNull();
    expect(laptop.state).toEqual({ status: "locked" });
  });
});

describe("a later secret", () => {
  it("with the openers of the book needs no picture, and changes neither book nor slots", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    world.engine.calls.length = 0;
    await protect(laptop, textSecret("Second"), {});
    expect(world.engine.calls).toEqual([]);
    expect(Object.keys((lastOf(world.service.bodies) as { keyring: object }).keyring).sort()).toEqual([
      "key_epoch",
      "sig",
      "state",
      "state_rev",
      "user_id",
      "v",
    ]);
  });

  it("with a picture of the book uses that image again: one sketch, one record", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const { secretId } = await protect(laptop, textSecret("Second", makePicture("market/small")), {});
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await openSmallSecret(laptop, secretId, makePicture("market"), {})).title).toBe("Second");
  });

  it("with a new picture adds an opener: both pictures open the secret, and only the old picture opens earlier secrets", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const { secretId: firstId } = await protect(laptop, textSecret("First", makePicture("market")), {});
    const { secretId: secondId } = await protect(laptop, textSecret("Second", makePicture("forest")), {});
    expect(world.service.account.keyring?.slots).toHaveLength(2);
    expect((await openSmallSecret(laptop, secondId, makePicture("forest"), {})).title).toBe("Second");
    expect((await openSmallSecret(laptop, secondId, makePicture("market"), {})).title).toBe("Second");
    await expect(openSmallSecret(laptop, firstId, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    const phone = await world.open("phone");
    expect((await openSmallSecret(phone, secondId, makePicture("forest"), {})).title).toBe("Second");
  });

  it("can name its openers; an unknown id is refused", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await protect(laptop, textSecret("Second", makePicture("forest")), {});
    const [marketOpener] = (await refreshKeyring(laptop))?.openedKeyring?.book.openers ?? [];
    const sealedTo = (openers: readonly string[]): Parameters<typeof protect>[1] => ({
      ...textSecret("Third"),
      protection: { kind: "openers", openerIds: openers },
    });
    const { secretId } = await protect(laptop, sealedTo([marketOpener?.id ?? ""]), {});
    await expect(openSmallSecret(laptop, secretId, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    await expect(protect(laptop, sealedTo(["019a9e2c-7c1e-7abc-8def-0123456789aa"]), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
  });

  it("needs an unlocked device", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market")), {});
    await expect(protect(await world.open("phone"), textSecret("Second", makePicture("forest")), {})).rejects.toEqual(
      errorWithCode("vault_locked"),
    );
  });

  it("is built again on a conflict, and both devices' secrets are kept", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store") return;
      world.service.beforeCall = () => undefined;
      await protect(phone, textSecret("Phone", makePicture("forest")), {});
    };
    const { secretId } = await protect(laptop, textSecret("Laptop"), {});
    expect((await readTitles(laptop)).toSorted()).toEqual(["First", "Laptop", "Phone"]);
    // sealed again, to the current openers
    expect((await openSmallSecret(laptop, secretId, makePicture("forest"), {})).title).toBe("Laptop");
    const contents = world.service.bodies
      .filter((body) => (body as { secret_db_id?: string }).secret_db_id === secretId && "content" in (body as object))
      .map((body) => (body as { content: string }).content);
    expect(contents.length).toBe(2);
    expect(new Set(contents).size).toBe(1);
  });

  it("compares a new picture again on a conflict, so that the same picture is never enrolled twice", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store") return;
      world.service.beforeCall = () => undefined;
      await protect(phone, textSecret("Phone", makePicture("forest")), {});
    };
    await protect(laptop, textSecret("Laptop", makePicture("forest/small")), {});
    expect((await refreshKeyring(laptop))?.openedKeyring?.book.images).toHaveLength(2);
  });

  it("gives up after eight tries, and publishes nothing in part", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const storesBefore = countStores(world);
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("state_conflict");
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(errorWithCode("state_conflict"));
    expect(countStores(world) - storesBefore).toBe(maxConflictTries);
    expect(world.service.account.rows.size).toBe(1);
  });

  it.each(["version_conflict", "quota_exceeded", "forbidden"] as const)("does not try again on %s", async (refusal) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const storesBefore = countStores(world);
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError(refusal);
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(errorWithCode(refusal));
    expect(countStores(world) - storesBefore).toBe(1);
  });

  it("is published once when its response is lost and another device writes next", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    let isResponseLost = false;
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /secrets/store" || isResponseLost) return response;
      isResponseLost = true;
      throw new PortalError("service_unavailable");
    };
    let sendCount = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store" || ++sendCount !== 2) return;
      world.service.beforeCall = () => undefined;
      await protect(phone, textSecret("Phone"), {});
    };
    await protect(laptop, textSecret("Laptop"), {});
    expect((await readTitles(laptop)).toSorted()).toEqual(["First", "Laptop", "Phone"]);
  });

  it("runs the writers of a page one after another, without conflicts", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await Promise.all(["A", "B", "C"].map((title) => protect(laptop, textSecret(title), {})));
    expect(countStores(world)).toBe(4);
    expect(await list(laptop)).toHaveLength(4);
  });
});

describe("protect, before anything is sent,", () => {
  it.each([
    ["a refused picture", textSecret("T", makePicture("plain-wall")), "picture_too_plain"],
    [
      "a marginal picture without a passphrase",
      textSecret("T", makePicture("marginal-sky")),
      "picture_needs_passphrase",
    ],
    [
      "a picture with unreliable copies, without a passphrase",
      textSecret("T", makePicture("pale-sand")),
      "picture_needs_passphrase",
    ],
    [
      "a marginal picture with an empty passphrase",
      textSecret("T", makePicture("marginal-sky", "")),
      "picture_needs_passphrase",
    ],
    [
      "content over the limit of one call",
      { ...textSecret("T", makePicture("market")), content: new Blob([new Uint8Array(maxSmallSealedBytes + 1)]) },
      "payload_too_large",
    ],
    [
      "content over that limit once sealed",
      { ...textSecret("T", makePicture("market")), content: new Blob([new Uint8Array(maxSmallSealedBytes)]) },
      "payload_too_large",
    ],
    ["no title", { ...textSecret("T", makePicture("market")), title: "" }, "validation_error"],
    ["a title too long", { ...textSecret("T", makePicture("market")), title: "x".repeat(201) }, "validation_error"],
    ["ill-formed text", { ...textSecret("T", makePicture("market")), title: "\ud800" }, "validation_error"],
    [
      "too many tags",
      { ...textSecret("T", makePicture("market")), tags: Array.from({ length: 33 }, String) },
      "validation_error",
    ],
    [
      "a file that is no picture",
      { ...textSecret("T", { picture: new Blob(["text"]), passphrase: null }) },
      "picture_unreadable",
    ],
  ])("refuses %s", async (_case, request, expectedCode) => {
    const world = createWorld();
    const laptop = await world.open();
    await expect(protect(laptop, request, {})).rejects.toEqual(errorWithCode(expectedCode));
    expect(countStores(world)).toBe(0);
    expect((await laptop.device.read()).pending).toBeNull();
    expect(laptop.state.status).not.toBe("unlocked");
  });

  it.each(contentKinds)("accepts a %s of the largest size for one call", async (contentKind) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(
      laptop,
      { ...textSecret("T", makePicture("market")), contentKind, content: new Blob(["x".repeat(maxSmallContentBytes)]) },
      {},
    );
    expect(await readTitles(laptop)).toEqual(["T"]);
  });

  it("accepts a marginal picture with a passphrase, and 200 characters of any script", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(
      laptop,
      { ...textSecret("T", makePicture("marginal-sky", "a passphrase")), title: "🌳".repeat(200) },
      {},
    );
    expect(await readTitles(laptop)).toEqual(["🌳".repeat(200)]);
  });

  it("refuses a cropped copy of an existing image", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await expect(protect(laptop, textSecret("Second", makePicture("market/cropped")), {})).rejects.toEqual(
      errorWithCode("picture_resembles_another"),
    );
  });

  it("stops when cancelled", async () => {
    const world = createWorld();
    const controller = new AbortController();
    await expect(
      protect(await world.open(), textSecret("First", makePicture("market")), {
        signal: controller.signal,
        onProgress: ({ phase, done }) => {
          if (phase === "sealing" && done === 1) controller.abort();
        },
      }),
    ).rejects.toEqual(errorWithCode("cancelled"));
    expect(countStores(world)).toBe(0);
  });
});

describe("a full disk", () => {
  it("is reported before anything is sent", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const fullVault = Object.assign(laptop, {
      device: { ...laptop.device, write: () => Promise.reject(new PortalError("storage_full")) },
    });
    await expect(protect(fullVault, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("storage_full"),
    );
    expect(countStores(world)).toBe(0);
    expect(world.service.account.keyring).toBeNull();
  });

  it("does not prevent reading, because the session keeps its checkpoint", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market")), {});
    const earlierAccount = world.service.snapshot();
    const phone = await world.open("phone");
    const fullVault = Object.assign(phone, {
      device: { ...phone.device, write: () => Promise.reject(new PortalError("storage_full")) },
    });
    (await unlock(fullVault, makePicture("market"), {})).opener.wipe();
    await protect(fullVault, textSecret("Second"), {});
    expect(await readTitles(fullVault)).toEqual(["First", "Second"]);
    world.service.account = earlierAccount;
    await expect(list(fullVault)).rejects.toEqual(errorWithCode("older_state"));
  });
});
