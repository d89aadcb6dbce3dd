import "fake-indexeddb/auto";

import { fromB64u, maxSmallContentBytes, maxSmallSecretBytes } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { bech32 } from "@scure/base";

import { identityOf } from "../seal/age.ts";
import { copyOf, sha256, utf8 } from "../seal/bytes.ts";
import { openHelper, parseHelper, sketchOf } from "../seal/helper.ts";
import { openTicket } from "../seal/ticket.ts";
import { lastOf } from "../testing/fake-account.ts";
import { sketchFor } from "../testing/fake-engine.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { conflictTries } from "../steps/publish.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { recover } from "./recover.ts";
import { unlock } from "./unlock.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const stores = (world: World): number => world.service.calls.filter((call) => call === "POST /secrets/store").length;
const titles = async (vault: Parameters<typeof list>[0]): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title);

/**
 * A text as bytes, and what its stretches of base64, base64url and hex stand for, from each place
 * where a group could begin.
 */
function decodings(text: string): readonly Buffer[] {
  const stretches = (pattern: RegExp, encoding: "base64" | "hex", places: readonly number[]): Buffer[] =>
    (text.match(pattern) ?? []).flatMap((stretch) =>
      places.map((place) => Buffer.from(stretch.slice(place), encoding)),
    );
  return [
    Buffer.from(text, "latin1"),
    ...stretches(/[A-Za-z0-9+/]{20,}/g, "base64", [0, 1, 2, 3]),
    ...stretches(/[A-Za-z0-9_-]{20,}/g, "base64", [0, 1, 2, 3]),
    ...stretches(/[0-9a-f]{20,}/gi, "hex", [0, 1]),
  ];
}

/** The service does what it is told, and from then on nothing of it is heard. */
function goAwayAfterStoring(world: World): void {
  let away = false;
  world.service.answer = (call, answer) => {
    away ||= call === "POST /secrets/store";
    if (away) throw new PortalError("service_unavailable");
    return answer;
  };
}

function comeBack(world: World): void {
  world.service.answer = (_call, answer) => answer;
}

describe("the first secret", () => {
  it("brings everything in one call, and the account key is held only once it is published", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market", "phrase")), {});
    expect(stores(world)).toBe(1);
    const { keyring, rows } = world.service.account;
    expect(keyring).toMatchObject({
      keyEpoch: 1,
      slots: [{ kind: "image" }],
      imageRecords: [{ id: keyring?.slots[0]?.opener_id }],
    });
    expect(keyring?.states).toHaveLength(1);
    expect(rows.size).toBe(1);
    expect(fromB64u(keyring?.imageRecords[0]?.helper ?? "")[6]).toBe(3);
    const record = await laptop.device.read();
    expect(record).toMatchObject({ pending: null, sketches: null, remembered: { stateRev: 1, count: 1 } });
  });

  it("sends nothing that the server could read", async () => {
    const world = createWorld();
    const sentinel = "zebra-crossing-quartz";
    const request = {
      ...textSecret(sentinel, shown("market", sentinel), sentinel),
      tags: [sentinel],
      name: `${sentinel}.txt`,
      mime: `text/${sentinel}`,
    };
    await protect(await world.open(), request, {});
    const sent = JSON.stringify(world.service.bodies);
    const forms = [
      sentinel,
      ...[0, 1, 2].map((offset) =>
        Buffer.from(" ".repeat(offset) + sentinel)
          .toString("base64url")
          .slice(4, -4),
      ),
    ];
    const everything =
      sent + sent.replace(/[A-Za-z0-9_-]{20,}/g, (b64u) => Buffer.from(b64u, "base64url").toString("latin1"));
    for (const form of forms) expect(everything).not.toContain(form);
    expect(everything).not.toContain("AGE-SECRET-KEY");
  });

  it("sends no key, no image secret, no identity and nothing of the picture, in no writing", async () => {
    const world = createWorld();
    const picture = `market/${Buffer.from(Array.from({ length: 4 }, (_, at) => [...sha256(utf8(String(at)))]).flat()).toString("base64")}`;
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown(picture, "phrase")), {});
    await protect(laptop, textSecret("Second"), {});
    const phone = await world.open("phone");
    const { opener } = await unlock(phone, shown(picture, "phrase"), {});
    await protect(phone, textSecret("Third", shown("forest")), {});

    const { accountKey } = laptop;
    if (accountKey === null) throw new Error("a picture was shown");
    const found = await world.engine.recover(utf8(`photo:${picture}`), [sketchFor("market")]);
    if (found.outcome !== "recovered") throw new Error("the picture is found");
    const helper = parseHelper(fromB64u(world.service.account.keyring?.imageRecords[0]?.helper ?? ""));
    const [row] = world.service.account.rows.values();
    const ticket = await openTicket(opener, fromB64u(row?.versions[0]?.ticket ?? ""));
    const seedOf = (identity: string): Uint8Array => bech32.decodeToBytes(identity).bytes;
    const identitySeed = accountKey.derive("relicario/v1/identity");
    const secrets: Record<string, Uint8Array> = {
      "account key": accountKey.lend(copyOf),
      "image secret": found.imageSecretBytes,
      "image root": await openHelper(
        helper,
        await sketchOf(helper, "phrase"),
        copyOf(found.imageSecretBytes),
        "phrase",
      ),
      "identity of the image": utf8(opener.identity),
      "seed of the image's identity": seedOf(opener.identity),
      "key of the slot's mac": opener.slotAuth,
      "identity of the account": utf8(identityOf(identitySeed)),
      "seed of the account's identity": identitySeed,
      "signing seed": accountKey.derive("relicario/v1/sign"),
      "identity of the content": utf8(ticket.content_identity),
      "seed of the content's identity": seedOf(ticket.content_identity),
    };
    for (let at = 0; at + 16 <= picture.length; at += 16)
      secrets[`picture from ${String(at)}`] = utf8(picture.slice(at, at + 16));
    const needles = Object.entries(secrets).map(([name, bytes]) => [name, Buffer.from(bytes)] as const);
    const sentOf = (text: string): string[] => {
      const everything = decodings(text);
      return needles.filter(([, bytes]) => everything.some((each) => each.includes(bytes))).map(([name]) => name);
    };
    expect(needles.every(([, bytes]) => bytes.length >= 16)).toBe(true);
    const sent = [...world.service.calls, JSON.stringify(world.service.bodies)].join(" ");
    expect(sentOf(sent)).toEqual([]);

    // Each would be found, in whatever writing it went out: the search above can fail.
    for (const [name, bytes] of needles) {
      for (const offset of [0, 1, 2]) {
        const among = Buffer.concat([Buffer.alloc(offset, "."), bytes]);
        for (const writing of ["latin1", "base64", "base64url", "hex"] as const)
          expect(sentOf(`{"x":"${among.toString(writing)}"}`)).toEqual([name]);
      }
    }
  });

  it("needs a picture: there is no opener yet", async () => {
    const world = createWorld();
    await expect(protect(await world.open(), textSecret("First"), {})).rejects.toEqual(code("opener_needed"));
    expect(stores(world)).toBe(0);
  });

  it("is published once when answers get lost: the same bytes are sent again", async () => {
    const world = createWorld();
    let lost = 0;
    world.service.answer = (call, answer) => {
      if (call === "POST /secrets/store" && lost++ < 2) throw new PortalError("service_unavailable");
      return answer;
    };
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    expect(stores(world)).toBe(3);
    expect(new Set(world.service.bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(await titles(laptop)).toEqual(["First"]);
  });
});

describe("answers that get lost again and again", () => {
  it.each([
    ["the first secret", false],
    ["a later one", true],
  ])("do not lose %s: the list tells that it is there", async (_what, later) => {
    const world = createWorld();
    const laptop = await world.open();
    if (later) await protect(laptop, textSecret("First", shown("market")), {});
    world.service.answer = (call, answer) => {
      if (call === "POST /secrets/store") throw new PortalError("service_unavailable");
      return answer;
    };
    const { secretId } = await protect(laptop, later ? textSecret("Second") : textSecret("First", shown("market")), {});
    expect((await list(laptop)).map((row) => row.secretId)).toContain(secretId);
    expect(laptop.getState().status).toBe("unlocked");
  });

  it("leave nothing behind when it is not there", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("service_unavailable");
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(code("service_unavailable"));
    expect(await titles(laptop)).toEqual(["First"]);
  });
});

describe("after a crash at the first secret", () => {
  it("a keyring that opens under the pending keys was ours; the picture opens it, after a reload", async () => {
    const world = createWorld();
    goAwayAfterStoring(world);
    const before = await world.open();
    await expect(protect(before, textSecret("First", shown("market")), {})).rejects.toEqual(
      code("service_unavailable"),
    );
    expect(before.keys).toBeNull(); // pending is not held
    comeBack(world);
    const after = await world.open();
    expect(await titles(after)).toEqual([undefined]);
    expect(after.getState()).toEqual({ status: "locked" });
    expect((await after.device.read()).pending).toBeNull();
    (await unlock(after, shown("market"), {})).opener.forget();
    expect(await titles(after)).toEqual(["First"]);
  });

  it("without a keyring the picture opens the account that waits: nothing is enrolled twice", async () => {
    const world = createWorld();
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    const before = await world.open();
    await expect(protect(before, textSecret("First", shown("market")), {})).rejects.toEqual(code("offline"));
    const { pending, sketches } = await before.device.read();
    expect([pending, sketches]).not.toContain(null);
    world.service.before = () => undefined;
    world.engine.calls.length = 0;
    const after = await world.open();
    await protect(after, textSecret("First", shown("market/small")), {});
    expect(world.engine.calls).toEqual(["recover among 1"]);
    expect(world.service.account.keyring?.keyStatement.recipient).toBe(after.keys?.recipient);
    expect(await after.device.read()).toMatchObject({ pending: null, sketches: null });
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    expect(await titles(phone)).toEqual(["First"]);
  });

  it("refuses a copy that only resembles the kept sketch", async () => {
    const world = createWorld();
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    const laptop = await world.open();
    await expect(protect(laptop, textSecret("First", shown("market")), {})).rejects.toEqual(code("offline"));
    await expect(protect(laptop, textSecret("First", shown("market/cropped")), {})).rejects.toEqual(
      code("picture_resembles_another"),
    );
  });

  it("a picture that needed a passphrase needs it on the next try", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    await expect(protect(laptop, textSecret("Second", shown("pale-sand", "phrase")), {})).rejects.toEqual(
      code("offline"),
    );
    world.service.before = () => undefined;
    await expect(protect(laptop, textSecret("Second", shown("pale-sand")), {})).rejects.toEqual(
      code("picture_needs_passphrase"),
    );
    await protect(laptop, textSecret("Second", shown("pale-sand", "another")), {});
    expect(await titles(laptop)).toEqual(["First", "Second"]);
  });

  it("a keyring of another device means that the pending key was never published: it is dropped, aloud, once", async () => {
    const world = createWorld();
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("offline");
    };
    await expect(protect(await world.open(), textSecret("First", shown("market")), {})).rejects.toEqual(
      code("offline"),
    );
    world.service.before = () => undefined;
    await protect(await world.open("phone"), textSecret("Phone", shown("forest")), {});
    const laptop = await world.open();
    await expect(readKeyring(laptop)).rejects.toEqual(code("pending_dropped"));
    expect(laptop.getState()).toEqual({ status: "locked" });
    expect((await laptop.device.read()).pending).toBeNull();
    await expect(readKeyring(laptop)).resolves.toMatchObject({ opened: null });
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
    world.service.before = async (call) => {
      if (call !== "POST /secrets/store") return;
      world.service.before = () => undefined;
      await protect(phone, textSecret("Phone", shown(onPhone)), {});
    };
    const outcome = await protect(laptop, textSecret("Laptop", shown(onLaptop)), {}).catch((error: unknown) => error);
    return { world, laptop, outcome };
  };

  it("end in one account when the picture shown opens a slot of the one that was first", async () => {
    const { world, laptop, outcome } = await race("market", "market/small");
    expect(outcome).toMatchObject({ version: 1 });
    expect((await titles(laptop)).toSorted()).toEqual(["Laptop", "Phone"]);
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await laptop.device.read()).pending).toBeNull();
  });

  it("stop aloud when it does not; nothing of the second is published", async () => {
    const { world, laptop, outcome } = await race("market", "forest");
    expect(outcome).toEqual(code("pending_dropped"));
    expect(world.service.account.rows.size).toBe(1);
    expect(laptop.keys).toBeNull();
    expect(laptop.getState()).toEqual({ status: "locked" });
  });
});

describe("a later secret", () => {
  it("with the openers of the book takes no picture and changes neither book nor slots", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
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
    await protect(laptop, textSecret("First", shown("market")), {});
    const { secretId } = await protect(laptop, textSecret("Second", shown("market/small")), {});
    expect(world.service.account.keyring?.imageRecords).toHaveLength(1);
    expect((await recover(laptop, secretId, shown("market"), {})).title).toBe("Second");
  });

  it("with a new picture adds an opener; both open what comes now, the old one alone what was before", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const { secretId: first } = await protect(laptop, textSecret("First", shown("market")), {});
    const { secretId: second } = await protect(laptop, textSecret("Second", shown("forest")), {});
    expect(world.service.account.keyring?.slots).toHaveLength(2);
    expect((await recover(laptop, second, shown("forest"), {})).title).toBe("Second");
    expect((await recover(laptop, second, shown("market"), {})).title).toBe("Second");
    await expect(recover(laptop, first, shown("forest"), {})).rejects.toEqual(code("opener_needed"));
    const phone = await world.open("phone");
    expect((await recover(phone, second, shown("forest"), {})).title).toBe("Second");
  });

  it("can name its openers; a stranger's id is refused", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    await protect(laptop, textSecret("Second", shown("forest")), {});
    const [market] = (await readKeyring(laptop))?.opened?.book.openers ?? [];
    const only = (openers: readonly string[]): Parameters<typeof protect>[1] => ({
      ...textSecret("Third"),
      protection: { kind: "openers", openers },
    });
    const { secretId } = await protect(laptop, only([market?.id ?? ""]), {});
    await expect(recover(laptop, secretId, shown("forest"), {})).rejects.toEqual(code("opener_needed"));
    await expect(protect(laptop, only(["019a9e2c-7c1e-7abc-8def-0123456789aa"]), {})).rejects.toEqual(
      code("opener_needed"),
    );
  });

  it("needs an unlocked device", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", shown("market")), {});
    await expect(protect(await world.open("phone"), textSecret("Second", shown("forest")), {})).rejects.toEqual(
      code("vault_locked"),
    );
  });

  it("is made anew on a conflict, and both devices' secrets stand", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    world.service.before = async (call) => {
      if (call !== "POST /secrets/store") return;
      world.service.before = () => undefined;
      await protect(phone, textSecret("Phone", shown("forest")), {});
    };
    const { secretId } = await protect(laptop, textSecret("Laptop"), {});
    expect((await titles(laptop)).toSorted()).toEqual(["First", "Laptop", "Phone"]);
    // Sealed anew to the openers as they are now.
    expect((await recover(laptop, secretId, shown("forest"), {})).title).toBe("Laptop");
    const contents = world.service.bodies
      .filter((body) => (body as { secret_db_id?: string }).secret_db_id === secretId && "content" in (body as object))
      .map((body) => (body as { content: string }).content);
    expect(contents.length).toBe(2);
    expect(new Set(contents).size).toBe(1);
  });

  it("compares a new picture again on a conflict: the same picture is never sketched twice", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    world.service.before = async (call) => {
      if (call !== "POST /secrets/store") return;
      world.service.before = () => undefined;
      await protect(phone, textSecret("Phone", shown("forest")), {});
    };
    await protect(laptop, textSecret("Laptop", shown("forest/small")), {});
    expect((await readKeyring(laptop))?.opened?.book.images).toHaveLength(2);
  });

  it("gives up after eight tries, in words, and nothing is half published", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    const before = stores(world);
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError("state_conflict");
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(code("state_conflict"));
    expect(stores(world) - before).toBe(conflictTries);
    expect(world.service.account.rows.size).toBe(1);
  });

  it.each(["version_conflict", "quota_exceeded", "forbidden"] as const)("does not try again on %s", async (refusal) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    const before = stores(world);
    world.service.before = (call) => {
      if (call === "POST /secrets/store") throw new PortalError(refusal);
    };
    await expect(protect(laptop, textSecret("Second"), {})).rejects.toEqual(code(refusal));
    expect(stores(world) - before).toBe(1);
  });

  it("is there once when its answers got lost and another device wrote on", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    let lost = false;
    world.service.answer = (call, answer) => {
      if (call !== "POST /secrets/store" || lost) return answer;
      lost = true;
      throw new PortalError("service_unavailable");
    };
    let sent = 0;
    world.service.before = async (call) => {
      if (call !== "POST /secrets/store" || ++sent !== 2) return;
      world.service.before = () => undefined;
      await protect(phone, textSecret("Phone"), {});
    };
    await protect(laptop, textSecret("Laptop"), {});
    expect((await titles(laptop)).toSorted()).toEqual(["First", "Laptop", "Phone"]);
  });

  it("runs writers of one page one after another: no conflict among themselves", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    await Promise.all(["A", "B", "C"].map((title) => protect(laptop, textSecret(title), {})));
    expect(stores(world)).toBe(4);
    expect(await list(laptop)).toHaveLength(4);
  });
});

describe("what protect refuses before anything is made or sent", () => {
  it.each([
    ["a red picture", textSecret("T", shown("plain-wall")), "picture_too_plain"],
    ["an amber picture without a passphrase", textSecret("T", shown("amber-sky")), "picture_needs_passphrase"],
    [
      "a picture that fails at the edge of the promise, without a passphrase",
      textSecret("T", shown("pale-sand")),
      "picture_needs_passphrase",
    ],
    ["an amber picture with an empty passphrase", textSecret("T", shown("amber-sky", "")), "picture_needs_passphrase"],
    [
      "content over the limit of one call",
      { ...textSecret("T", shown("market")), content: new Blob([new Uint8Array(maxSmallSecretBytes + 1)]) },
      "payload_too_large",
    ],
    [
      "content that is over it once sealed",
      { ...textSecret("T", shown("market")), content: new Blob([new Uint8Array(maxSmallSecretBytes)]) },
      "payload_too_large",
    ],
    ["no title", { ...textSecret("T", shown("market")), title: "" }, "validation_error"],
    ["a title too long", { ...textSecret("T", shown("market")), title: "x".repeat(201) }, "validation_error"],
    ["ill-formed text", { ...textSecret("T", shown("market")), title: "\ud800" }, "validation_error"],
    [
      "too many tags",
      { ...textSecret("T", shown("market")), tags: Array.from({ length: 33 }, String) },
      "validation_error",
    ],
    [
      "a file that is no picture",
      { ...textSecret("T", { picture: new Blob(["text"]), passphrase: null }) },
      "picture_unreadable",
    ],
  ])("%s", async (_what, request, expected) => {
    const world = createWorld();
    const laptop = await world.open();
    await expect(protect(laptop, request, {})).rejects.toEqual(code(expected));
    expect(stores(world)).toBe(0);
    expect((await laptop.device.read()).pending).toBeNull();
    expect(laptop.getState().status).not.toBe("unlocked");
  });

  it.each(["text", "seed", "file"] as const)("takes a %s of all bytes that go in one call", async (contentKind) => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(
      laptop,
      { ...textSecret("T", shown("market")), contentKind, content: new Blob(["x".repeat(maxSmallContentBytes)]) },
      {},
    );
    expect(await titles(laptop)).toEqual(["T"]);
  });

  it("takes an amber picture with a passphrase, and 200 characters of any script", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, { ...textSecret("T", shown("amber-sky", "phrase")), title: "🌳".repeat(200) }, {});
    expect(await titles(laptop)).toEqual(["🌳".repeat(200)]);
  });

  it("a cropped copy of an image in use", async () => {
    const world = createWorld();
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    await expect(protect(laptop, textSecret("Second", shown("market/cropped")), {})).rejects.toEqual(
      code("picture_resembles_another"),
    );
  });

  it("everything once it was cancelled, up to the moment of sending", async () => {
    const world = createWorld();
    const controller = new AbortController();
    await expect(
      protect(await world.open(), textSecret("First", shown("market")), {
        signal: controller.signal,
        onProgress: ({ phase, done }) => {
          if (phase === "sealing" && done === 1) controller.abort();
        },
      }),
    ).rejects.toEqual(code("cancelled"));
    expect(stores(world)).toBe(0);
  });
});

describe("a full disk", () => {
  it("is said before anything is sent, and nothing is lost", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const full = {
      ...laptop,
      device: { ...laptop.device, write: () => Promise.reject(new PortalError("storage_full")) },
    };
    await expect(protect(full, textSecret("First", shown("market")), {})).rejects.toEqual(code("storage_full"));
    expect(stores(world)).toBe(0);
    expect(world.service.account.keyring).toBeNull();
  });

  it("does not stop reading: the vault still remembers", async () => {
    const world = createWorld();
    await protect(await world.open(), textSecret("First", shown("market")), {});
    const earlier = world.service.snapshot();
    const phone = await world.open("phone");
    const full = {
      ...phone,
      device: { ...phone.device, write: () => Promise.reject(new PortalError("storage_full")) },
    };
    (await unlock(full, shown("market"), {})).opener.forget();
    await protect(full, textSecret("Second"), {});
    expect(await titles(full)).toEqual(["First", "Second"]);
    world.service.account = earlier;
    await expect(list(full)).rejects.toEqual(code("older_state"));
  });
});
