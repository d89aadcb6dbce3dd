import "fake-indexeddb/auto";

import { fromBase64url, maxSmallContentBytes, maxSmallSealedBytes } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { bech32 } from "@scure/base";

import { encodeIdentity } from "../seal/age.ts";
import { copyOf, sha256, utf8 } from "../seal/bytes.ts";
import { unwrapImageRootKey, parseHelper, extractSketch } from "../seal/helper.ts";
import { openTicket } from "../seal/ticket.ts";
import { lastOf } from "../testing/fake-account.ts";
import { sketchFor } from "../testing/fake-engine.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { maxConflictTries } from "../keyring/publish.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { openSmallSecret } from "./open-secret.ts";
import { unlock } from "../openers/unlock.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const countStores = (world: World): number =>
  world.service.calls.filter((call) => call === "POST /secrets/store").length;
const readTitles = async (vault: Parameters<typeof list>[0]): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title);

/**
 * A text as bytes, and what its stretches of base64, base64url and hex stand for, from each place
 * where a group could begin.
 */
function decodeAll(text: string): readonly Buffer[] {
  const stretches = (pattern: RegExp, encoding: "base64" | "hex", places: readonly number[]): Buffer[] =>
    (text.match(pattern) ?? []).flatMap((stretch) =>
      places.map((start) => Buffer.from(stretch.slice(start), encoding)),
    );
  return [
    Buffer.from(text, "latin1"),
    ...stretches(/[A-Za-z0-9+/]{20,}/g, "base64", [0, 1, 2, 3]),
    ...stretches(/[A-Za-z0-9_-]{20,}/g, "base64", [0, 1, 2, 3]),
    ...stretches(/[0-9a-f]{20,}/gi, "hex", [0, 1]),
  ];
}

/** The service does what it is told, and from then on nothing of it is heard. */
function failAfterStoring(world: World): void {
  let isAway = false;
  world.service.transformAnswer = (call, answer) => {
    isAway ||= call === "POST /secrets/store";
    if (isAway) throw new PortalError("service_unavailable");
    return answer;
  };
}

function restoreService(world: World): void {
  world.service.transformAnswer = (_call, answer) => answer;
}

describe("the first secret", () => {
  it("brings everything in one call, and the account key is held only once it is published", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market", "phrase")), {});
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
    const sent = JSON.stringify(world.service.bodies);
    const encodedForms = [
      sentinel,
      ...[0, 1, 2].map((offset) =>
        Buffer.from(" ".repeat(offset) + sentinel)
          .toString("base64url")
          .slice(4, -4),
      ),
    ];
    const allText =
      sent + sent.replace(/[A-Za-z0-9_-]{20,}/g, (b64u) => Buffer.from(b64u, "base64url").toString("latin1"));
    for (const form of encodedForms) expect(allText).not.toContain(form);
    expect(allText).not.toContain("AGE-SECRET-KEY");
  });

  it("sends no key, no image secret, no identity and nothing of the picture, in no writing", async () => {
    const world = createWorld();
    const picture = `market/${Buffer.from(Array.from({ length: 4 }, (_, index) => [...sha256(utf8(String(index)))]).flat()).toString("base64")}`;
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture(picture, "phrase")), {});
    await protect(laptop, textSecret("Second"), {});
    const phone = await world.open("phone");
    const { opener } = await unlock(phone, makePicture(picture, "phrase"), {});
    await protect(phone, textSecret("Third", makePicture("forest")), {});

    const { accountKey } = laptop;
    if (accountKey === null) throw new Error("a picture was shown");
    const match = await world.engine.recover(utf8(`photo:${picture}`), [sketchFor("market")]);
    if (match.outcome !== "recovered") throw new Error("the picture is found");
    const helper = parseHelper(fromBase64url(world.service.account.keyring?.imageRecords[0]?.helper ?? ""));
    const [row] = world.service.account.rows.values();
    const ticket = await openTicket(opener, fromBase64url(row?.versions[0]?.ticket ?? ""));
    const seedOf = (identity: string): Uint8Array => bech32.decodeToBytes(identity).bytes;
    const identitySeed = accountKey.derive("relicario/v1/identity");
    const secrets: Record<string, Uint8Array> = {
      "account key": accountKey.withBytes(copyOf),
      "image secret": match.imageSecretBytes,
      "image root": await unwrapImageRootKey(
        helper,
        await extractSketch(helper, "phrase"),
        copyOf(match.imageSecretBytes),
        "phrase",
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
    const sent = [...world.service.calls, JSON.stringify(world.service.bodies)].join(" ");
    expect(findLeaks(sent)).toEqual([]);

    // Each would be found, in whatever writing it went out: the search above can fail.
    for (const [name, bytes] of needles) {
      for (const offset of [0, 1, 2]) {
        const surrounded = Buffer.concat([Buffer.alloc(offset, "."), bytes]);
        for (const encoding of ["latin1", "base64", "base64url", "hex"] as const)
          expect(findLeaks(`{"x":"${surrounded.toString(encoding)}"}`)).toEqual([name]);
      }
    }
  });

  it("needs a picture: there is no opener yet", async () => {
    const world = createWorld();
    await expect(protect(await world.open(), textSecret("First"), {})).rejects.toEqual(errorWithCode("opener_needed"));
    expect(countStores(world)).toBe(0);
  });

  it("is published once when answers get lost: the same bytes are sent again", async () => {
    const world = createWorld();
    let lostAnswers = 0;
    world.service.transformAnswer = (call, answer) => {
      if (call === "POST /secrets/store" && lostAnswers++ < 2) throw new PortalError("service_unavailable");
      return answer;
    };
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    expect(countStores(world)).toBe(3);
    expect(new Set(world.service.bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(await readTitles(laptop)).toEqual(["First"]);
  });
});

describe("answers that get lost again and again", () => {
  it.each([
    ["the first secret", false],
    ["a later one", true],
  ])("do not lose %s: the list tells that it is there", async (_case, isLater) => {
    const world = createWorld();
    const laptop = await world.open();
    if (isLater) await protect(laptop, textSecret("First", makePicture("market")), {});
    world.service.transformAnswer = (call, answer) => {
      if (call === "POST /secrets/store") throw new PortalError("service_unavailable");
      return answer;
    };
    const { secretId } = await protect(
      laptop,
      isLater ? textSecret("Second") : textSecret("First", makePicture("market")),
      {},
    );
    expect((await list(laptop)).map((row) => row.secretId)).toContain(secretId);
    expect(laptop.state.status).toBe("unlocked");
  });

  it("leave nothing behind when it is not there", async () => {
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
  it("a keyring that opens under the pending keys was ours; the picture opens it, after a reload", async () => {
    const world = createWorld();
    failAfterStoring(world);
    const before = await world.open();
    await expect(protect(before, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("service_unavailable"),
    );
    expect(before.keys).toBeNull(); // pending is not held
    restoreService(world);
    const after = await world.open();
    expect(await readTitles(after)).toEqual([undefined]);
    expect(after.state).toEqual({ status: "locked" });
    expect((await after.device.read()).pending).toBeNull();
    (await unlock(after, makePicture("market"), {})).opener.wipe();
    expect(await readTitles(after)).toEqual(["First"]);
  });

  it("without a keyring the picture opens the account that waits: nothing is enrolled twice", async () => {
    const world = createWorld();
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    const before = await world.open();
    await expect(protect(before, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("offline"),
    );
    const { pending, sketches } = await before.device.read();
    expect([pending, sketches]).not.toContain(null);
    world.service.beforeCall = () => undefined;
    world.engine.calls.length = 0;
    const after = await world.open();
    await protect(after, textSecret("First", makePicture("market/small")), {});
    expect(world.engine.calls).toEqual(["recover among 1"]);
    expect(world.service.account.keyring?.keyStatement.recipient).toBe(after.keys?.recipient);
    expect(await after.device.read()).toMatchObject({ pending: null, sketches: null });
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect(await readTitles(phone)).toEqual(["First"]);
  });

  it("refuses a copy that only resembles the kept sketch", async () => {
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

  it("a picture that needed a passphrase needs it on the next try", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    await expect(protect(laptop, textSecret("Second", makePicture("pale-sand", "phrase")), {})).rejects.toEqual(
      errorWithCode("offline"),
    );
    world.service.beforeCall = () => undefined;
    await expect(protect(laptop, textSecret("Second", makePicture("pale-sand")), {})).rejects.toEqual(
      errorWithCode("picture_needs_passphrase"),
    );
    await protect(laptop, textSecret("Second", makePicture("pale-sand", "another")), {});
    expect(await readTitles(laptop)).toEqual(["First", "Second"]);
  });

  it("a keyring of another device means that the pending key was never published: it is dropped, aloud, once", async () => {
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

describe("two devices that protect the first secret at once", () => {
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

  it("end in one account when the picture shown opens a slot of the one that was first", async () => {
    const { world, laptop, outcome } = await race("market", "market/small");
    expect(outcome).toMatchObject({ version: 1 });
    expect((await readTitles(laptop)).toSorted()).toEqual(["Laptop", "Phone"]);
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await laptop.device.read()).pending).toBeNull();
  });

  it("stop aloud when it does not; nothing of the second is published", async () => {
    const { world, laptop, outcome } = await race("market", "forest");
    expect(outcome).toEqual(errorWithCode("pending_dropped"));
    expect(world.service.account.rows.size).toBe(1);
    expect(laptop.keys).toBeNull();
    expect(laptop.state).toEqual({ status: "locked" });
  });
});

describe("a later secret", () => {
  it("with the openers of the book takes no picture and changes neither book nor slots", async () => {
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

  it("with a new picture adds an opener; both open what comes now, the old one alone what was before", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const { secretId: first } = await protect(laptop, textSecret("First", makePicture("market")), {});
    const { secretId: second } = await protect(laptop, textSecret("Second", makePicture("forest")), {});
    expect(world.service.account.keyring?.slots).toHaveLength(2);
    expect((await openSmallSecret(laptop, second, makePicture("forest"), {})).title).toBe("Second");
    expect((await openSmallSecret(laptop, second, makePicture("market"), {})).title).toBe("Second");
    await expect(openSmallSecret(laptop, first, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    const phone = await world.open("phone");
    expect((await openSmallSecret(phone, second, makePicture("forest"), {})).title).toBe("Second");
  });

  it("can name its openers; a stranger's id is refused", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await protect(laptop, textSecret("Second", makePicture("forest")), {});
    const [market] = (await refreshKeyring(laptop))?.openedKeyring?.book.openers ?? [];
    const sealedTo = (openers: readonly string[]): Parameters<typeof protect>[1] => ({
      ...textSecret("Third"),
      protection: { kind: "openers", openers },
    });
    const { secretId } = await protect(laptop, sealedTo([market?.id ?? ""]), {});
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

  it("is made anew on a conflict, and both devices' secrets stand", async () => {
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
    // Sealed anew to the openers as they are now.
    expect((await openSmallSecret(laptop, secretId, makePicture("forest"), {})).title).toBe("Laptop");
    const contents = world.service.bodies
      .filter((body) => (body as { secret_db_id?: string }).secret_db_id === secretId && "content" in (body as object))
      .map((body) => (body as { content: string }).content);
    expect(contents.length).toBe(2);
    expect(new Set(contents).size).toBe(1);
  });

  it("compares a new picture again on a conflict: the same picture is never sketched twice", async () => {
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

  it("gives up after eight tries, in words, and nothing is half published", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const before = countStores(world);
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("state_conflict");
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(errorWithCode("state_conflict"));
    expect(countStores(world) - before).toBe(maxConflictTries);
    expect(world.service.account.rows.size).toBe(1);
  });

  it.each(["version_conflict", "quota_exceeded", "forbidden"] as const)("does not try again on %s", async (refusal) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const before = countStores(world);
    world.service.beforeCall = (call) => {
      if (call === "POST /secrets/store") throw new PortalError(refusal);
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(errorWithCode(refusal));
    expect(countStores(world) - before).toBe(1);
  });

  it("is there once when its answers got lost and another device wrote on", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    let lost = false;
    world.service.transformAnswer = (call, answer) => {
      if (call !== "POST /secrets/store" || lost) return answer;
      lost = true;
      throw new PortalError("service_unavailable");
    };
    let sent = 0;
    world.service.beforeCall = async (call) => {
      if (call !== "POST /secrets/store" || ++sent !== 2) return;
      world.service.beforeCall = () => undefined;
      await protect(phone, textSecret("Phone"), {});
    };
    await protect(laptop, textSecret("Laptop"), {});
    expect((await readTitles(laptop)).toSorted()).toEqual(["First", "Laptop", "Phone"]);
  });

  it("runs writers of one page one after another: no conflict among themselves", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await Promise.all(["A", "B", "C"].map((title) => protect(laptop, textSecret(title), {})));
    expect(countStores(world)).toBe(4);
    expect(await list(laptop)).toHaveLength(4);
  });
});

describe("what protect refuses before anything is made or sent", () => {
  it.each([
    ["a red picture", textSecret("T", makePicture("plain-wall")), "picture_too_plain"],
    ["an amber picture without a passphrase", textSecret("T", makePicture("marginal-sky")), "picture_needs_passphrase"],
    [
      "a picture that fails at the edge of the promise, without a passphrase",
      textSecret("T", makePicture("pale-sand")),
      "picture_needs_passphrase",
    ],
    [
      "an amber picture with an empty passphrase",
      textSecret("T", makePicture("marginal-sky", "")),
      "picture_needs_passphrase",
    ],
    [
      "content over the limit of one call",
      { ...textSecret("T", makePicture("market")), content: new Blob([new Uint8Array(maxSmallSealedBytes + 1)]) },
      "payload_too_large",
    ],
    [
      "content that is over it once sealed",
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
  ])("%s", async (_case, request, expected) => {
    const world = createWorld();
    const laptop = await world.open();
    await expect(protect(laptop, request, {})).rejects.toEqual(errorWithCode(expected));
    expect(countStores(world)).toBe(0);
    expect((await laptop.device.read()).pending).toBeNull();
    expect(laptop.state.status).not.toBe("unlocked");
  });

  it.each(["text", "seed", "file"] as const)("takes a %s of all bytes that go in one call", async (contentKind) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(
      laptop,
      { ...textSecret("T", makePicture("market")), contentKind, content: new Blob(["x".repeat(maxSmallContentBytes)]) },
      {},
    );
    expect(await readTitles(laptop)).toEqual(["T"]);
  });

  it("takes an amber picture with a passphrase, and 200 characters of any script", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, { ...textSecret("T", makePicture("marginal-sky", "phrase")), title: "🌳".repeat(200) }, {});
    expect(await readTitles(laptop)).toEqual(["🌳".repeat(200)]);
  });

  it("a cropped copy of an image in use", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    await expect(protect(laptop, textSecret("Second", makePicture("market/cropped")), {})).rejects.toEqual(
      errorWithCode("picture_resembles_another"),
    );
  });

  it("everything once it was cancelled, up to the moment of sending", async () => {
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
  it("is said before anything is sent, and nothing is lost", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const full = Object.assign(laptop, {
      device: { ...laptop.device, write: () => Promise.reject(new PortalError("storage_full")) },
    });
    await expect(protect(full, textSecret("First", makePicture("market")), {})).rejects.toEqual(
      errorWithCode("storage_full"),
    );
    expect(countStores(world)).toBe(0);
    expect(world.service.account.keyring).toBeNull();
  });

  it("does not stop reading: the vault still remembers", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", makePicture("market")), {});
    const earlier = world.service.snapshot();
    const phone = await world.open("phone");
    const full = Object.assign(phone, {
      device: { ...phone.device, write: () => Promise.reject(new PortalError("storage_full")) },
    });
    (await unlock(full, makePicture("market"), {})).opener.wipe();
    await protect(full, textSecret("Second"), {});
    expect(await readTitles(full)).toEqual(["First", "Second"]);
    world.service.account = earlier;
    await expect(list(full)).rejects.toEqual(errorWithCode("older_state"));
  });
});
