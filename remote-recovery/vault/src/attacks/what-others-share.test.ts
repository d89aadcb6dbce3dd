import "fake-indexeddb/auto";

import { fromB64u, toB64u, type KeyStatement, type SharesWithMe } from "@relicario/shared/api";

import { protect } from "../acts/protect.ts";
import { update } from "../acts/update.ts";
import { findPerson, listPeople, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { knownAs } from "../people/pinned-keys.ts";
import { openReceived, receivedShares } from "../received/received-shares.ts";
import { AccountKey, deriveTitlesKeys, signDocument, type TitlesKeys } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import { recipientOf } from "../seal/age.ts";
import { copyOf } from "../seal/bytes.ts";
import { linkIdentity } from "../seal/link.ts";
import { updateShareContent } from "../shares/change-shares.ts";
import { openShare } from "../shares/open-link.ts";
import { openShareTicket } from "../seal/share-ticket.ts";
import { sealShareTicket, sealSignedShare } from "../shares/sealed-share.ts";
import type { SharedContent } from "../shares/shared-content.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { byMarket, codeOf, createSharingWorld, type SharingWorld } from "../testing/sharing-world.ts";
import { textSecret } from "../testing/world.ts";

/*
 * The service between two people lies: about keys, tickets, contents, about who sent something and
 * which update it is. Each lie ends in a refusal, before a view is claimed or anything is sealed
 * wherever that can be known before.
 */

const nothing = { password: null, picture: null };
const mallorysId = "019a9e2c-7c1e-7abc-8def-000000000009";

let world: SharingWorld;
let mallory: TitlesKeys;
beforeAll(async () => {
  mallory = await deriveTitlesKeys(AccountKey.make(1));
});
beforeEach(async () => {
  world = await createSharingWorld();
});

/** The directory says these keys of a name, correctly signed. */
function sayKeys(of: "ada" | "ben", to: SharingWorld["ada"], statement: KeyStatement): void {
  to.service.answer = (call, answer) => (call.toLowerCase() === `get /users/${of}/key` ? statement : answer);
}

/** Replaces members of what a claim is answered. */
function sayClaimed(to: SharingWorld["ada"], change: (claimed: { ticket: string }) => object): void {
  to.service.answer = (call, answer) =>
    call.startsWith("POST /share/get-") && hasTicket(answer) ? { ...answer, ...change(answer) } : answer;
}

function hasTicket(answer: unknown): answer is { ticket: string } {
  return typeof answer === "object" && answer !== null && "ticket" in answer;
}

const contentOfMallory: SharedContent = {
  secretId: "019a9e2c-7c1e-7abc-8def-000000000001",
  version: 1,
  identity: linkIdentity(new Uint8Array(32), null),
  sha256: toB64u(new Uint8Array(32)),
  kind: "text",
  size: 5,
  mime: "text/plain",
  author: "verified",
};

describe("a service that swaps the recipient's key", () => {
  it("is stopped with both sets of words, before anything is sealed", async () => {
    const { adasVault, ada } = world;
    await pinPerson(adasVault, await findPerson(adasVault, "Ben"));
    const [{ userId, words } = await findPerson(adasVault, "Ben")] = await listPeople(adasVault);
    await setCompared(adasVault, userId, true);
    sayKeys("ben", ada, await makeKeyStatement(mallory, userId));
    const swapped = await findPerson(adasVault, "Ben");
    expect(swapped).toMatchObject({ standing: "changed", formerWords: words });
    expect(swapped.words).not.toEqual(words);
    await expect(world.share({ to: { audience: "person", person: swapped } })).rejects.toMatchObject({
      code: "person_changed",
      details: { words: swapped.words, former_words: words },
    });
    expect(world.sharing.shares.size).toBe(0);
  });

  it("is stopped when it does so after the words were shown", async () => {
    const { adasVault, ada } = world;
    const person = await findPerson(adasVault, "Ben");
    sayKeys("ben", ada, await makeKeyStatement(mallory, person.userId));
    expect(await codeOf(world.share({ to: { audience: "person", person } }))).toBe("person_changed");
    expect(await codeOf(pinPerson(adasVault, person))).toBe("person_changed");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("cannot put another account behind a known name", async () => {
    const { adasVault, ada } = world;
    await pinPerson(adasVault, await findPerson(adasVault, "Ben"));
    sayKeys("ben", ada, await makeKeyStatement(mallory, mallorysId));
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ standing: "changed" });
  });

  it("cannot put a known account behind another known name, nor behind a name of nobody", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    const statement = await makeKeyStatement(mallory, mallorysId);
    for (const name of ["mallory", "notary"])
      world.sharing.people.set(name, { userId: mallorysId, userName: name, account: () => world.ben.service.account });
    ada.service.answer = (call, answer) =>
      /^get \/users\/(mallory|notary)\/key$/.test(call.toLowerCase()) ? statement : answer;
    await pinPerson(adasVault, await findPerson(adasVault, "Mallory"));
    await setCompared(adasVault, mallorysId, true);

    await expect(findPerson(adasVault, "notary")).resolves.toMatchObject({
      standing: "changed",
      formerName: "Mallory",
    });
    sayKeys("ben", ada, statement);
    const swapped = await findPerson(adasVault, "Ben");
    expect(swapped).toMatchObject({
      userId: mallorysId,
      standing: "changed",
      formerWords: ben.words,
      formerName: null,
    });
    await expect(world.share({ to: { audience: "person", person: swapped } })).rejects.toMatchObject({
      code: "person_changed",
      details: { user_id: mallorysId, former_words: ben.words },
    });
    expect(world.sharing.shares.size).toBe(0);
  });

  it("is found out by either key alone", async () => {
    const { adasVault } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    const [pinned] = (await readKeyring(adasVault))?.opened?.book.people ?? [];
    const statement = await makeKeyStatement(mallory, ben.userId);
    const standing = (keys: object): string =>
      knownAs(pinned === undefined ? [] : [pinned], {
        userId: ben.userId,
        userName: "ben",
        statement: {
          ...statement,
          recipient: pinned?.recipient ?? "",
          signing_key: pinned?.signing_key ?? "",
          ...keys,
        },
      }).standing;
    expect(standing({})).toBe("known");
    expect(standing({ recipient: statement.recipient })).toBe("changed");
    expect(standing({ signing_key: statement.signing_key })).toBe("changed");
  });

  it("has a stranger blocked behind a known name, and leaves the one who has that name as they were", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    await setCompared(adasVault, ben.userId, true);
    sayKeys("ben", ada, await makeKeyStatement(mallory, mallorysId));
    await setBlocked(adasVault, await findPerson(adasVault, "Ben"), true);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: mallorysId,
      standing: "changed",
      formerWords: ben.words,
      blocked: true,
    });
    ada.service.answer = (_call, answer) => answer;
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: ben.userId,
      standing: "compared",
      blocked: false,
    });
  });

  it("has its other account take the place of the known one on request alone, not compared, and blocked where one was", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    await setBlocked(adasVault, ben, true);
    sayKeys("ben", ada, await makeKeyStatement(mallory, mallorysId));
    const other = await findPerson(adasVault, "Ben");
    expect(other).toMatchObject({ userId: mallorysId, standing: "changed", blocked: true });
    await pinPerson(adasVault, other);
    await expect(listPeople(adasVault)).resolves.toMatchObject([
      { userId: mallorysId, standing: "known", blocked: true },
    ]);
    await setBlocked(adasVault, other, false);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ standing: "known", blocked: false });
    ada.service.answer = (_call, answer) => answer;
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: ben.userId,
      standing: "changed",
      formerWords: other.words,
    });
  });

  it("cannot change it under a share that exists", async () => {
    const { adasVault, ada } = world;
    const shareId = await world.shareWithBen();
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    sayKeys("ben", ada, await makeKeyStatement(mallory, world.stored(shareId).wire.recipient ?? ""));
    expect(await codeOf(updateShareContent(adasVault, shareId, byMarket))).toBe("person_changed");
    expect(world.stored(shareId).version).toBe(1);
  });

  it("is found out by whose key it is: a statement that does not verify, and one of this account that it never made", async () => {
    const { adasVault, ada } = world;
    const statement = await makeKeyStatement(mallory, world.stored(await world.shareWithBen()).wire.recipient ?? "");
    sayKeys("ben", ada, { ...statement, key_epoch: 7 });
    expect(await codeOf(findPerson(adasVault, "Ben"))).toBe("decryption_failed");
    sayKeys("ada", ada, await makeKeyStatement(mallory, adasVault.userId));
    expect(await codeOf(findPerson(adasVault, "Ada"))).toBe("own_key_changed");
  });
});

describe("a service that swaps the sender", () => {
  it("is stopped before a view is claimed when it gives another signing key", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    sayKeys("ada", ben, await makeKeyStatement(mallory, world.adasVault.userId));
    expect(await codeOf(openReceived(bensVault, shareId, null))).toBe("person_changed");
    expect(world.stored(shareId).claims.size).toBe(0);
  });

  it("cannot have its own ticket taken for that of a known person", async () => {
    const { bensVault, ben, adasVault } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    const recipient = ben.service.account.keyring?.keyStatement.recipient ?? "";
    const forged = await sealShareTicket(
      mallory,
      {
        shareId,
        audience: "person",
        rev: 9,
        recipient,
        owner: adasVault.userId,
        createdAt: "2026-11-21T10:00:00.000Z",
      },
      { title: "Pay this", name: "a" },
      contentOfMallory,
    );
    sayClaimed(ben, () => ({ ticket: toB64u(forged) }));
    expect(await codeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
  });

  it("cannot say that a known person has another name, in the list or when it opens", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const ada = await findPerson(bensVault, "Ada");
    await pinPerson(bensVault, ada);
    await setCompared(bensVault, ada.userId, true);
    const from = { user_id: ada.userId, user_name: "notary" };
    ben.service.answer = (call, answer) => {
      if (call === "GET /user/share-with-me")
        return { shares: (answer as SharesWithMe).shares.map((share) => ({ ...share, from })) };
      return call.startsWith("POST /share/get-") ? { ...(answer as object), from } : answer;
    };
    await expect(receivedShares(bensVault)).resolves.toMatchObject([
      { from: { userId: ada.userId, userName: "Ada", standing: "changed" } },
    ]);
    await expect(openReceived(bensVault, shareId, null)).rejects.toMatchObject({
      code: "person_changed",
      details: { user_id: ada.userId, former_name: "Ada" },
    });
    expect(world.stored(shareId).claims.size).toBe(0);
  });

  it("is stopped when it gives other keys than those that were accepted", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const { words } = await findPerson(bensVault, "Ada");
    sayKeys("ada", ben, await makeKeyStatement(mallory, world.adasVault.userId));
    await expect(openReceived(bensVault, shareId, null, { accept: words })).rejects.toMatchObject({
      code: "person_unknown",
    });
    expect(world.stored(shareId).claims.size).toBe(0);
    await expect(listPeople(bensVault)).resolves.toEqual([]);
  });

  it("cannot say that somebody else sent it", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    sayClaimed(ben, () => ({ from: { user_id: bensVault.userId, user_name: "Ben" } }));
    expect(await codeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
  });
});

describe("a service that swaps ticket or content", () => {
  it("is refused with the ticket of another share, of another link, and with content that is not the ticket's", async () => {
    const { bensVault, ben } = world;
    const [shareId, otherId] = [await world.shareWithBen(), await world.shareWithBen()];
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    sayClaimed(ben, () => ({ ticket: world.stored(otherId).ticket }));
    expect(await codeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");

    const [link, other] = [await world.share({}), await world.share({})];
    const visitor = world.visit(link.link);
    visitor.service.answer = (_call, answer) =>
      hasTicket(answer) ? { ...answer, ticket: world.stored(other.shareId).ticket } : answer;
    expect(await codeOf(openShare(visitor, link.shareId, nothing))).toBe("decryption_failed");

    visitor.service.answer = (call, answer) => {
      if (call !== "POST /share/content") return answer;
      const content = fromB64u(world.ben.service.account.rows.values().next().value?.versions[0]?.content ?? "");
      return { size: content.length, start: 0, body: new Blob([content]).stream() };
    };
    expect(["decryption_failed", "bad_answer"]).toContain(await codeOf(openShare(visitor, link.shareId, nothing)));
  });

  it("cannot have names opened that are longer than the portal takes, whoever sealed them", async () => {
    const identity = linkIdentity(new Uint8Array(32), null);
    const expected = {
      shareId: "AAAAAAAAAAAAAAAAAAAAAA",
      audience: "public",
      recipient: await recipientOf(identity),
      owner: world.adasVault.userId,
      ownerKey: null,
    } as const;
    const opens = async (
      label: { readonly title: string; readonly name: string },
      mime = "text/plain",
    ): Promise<unknown> => {
      const sealed = await sealShareTicket(
        mallory,
        { ...expected, rev: 1, createdAt: "2026-11-21T10:00:00.000Z" },
        label,
        { ...contentOfMallory, mime },
      );
      return codeOf(openShareTicket(identity, sealed, expected));
    };
    expect(await opens({ title: "🔑".repeat(200), name: "🔑".repeat(255) })).toBe("none");
    expect(await opens({ title: "t".repeat(201), name: "a" })).toBe("decryption_failed");
    expect(await opens({ title: "t", name: "n".repeat(256) })).toBe("decryption_failed");
    expect(await opens({ title: "t", name: "a" }, "m".repeat(256))).toBe("decryption_failed");
  });

  it("is opened under plain names when its ticket has none, so that it can be shown, saved and kept", async () => {
    const { shareId, link } = await world.share({});
    const key = fromB64u(link?.split("#s=")[1] ?? "");
    const identity = linkIdentity(key, null);
    const recipient = await recipientOf(identity);
    const whole = await openShareTicket(identity, fromB64u(world.stored(shareId).ticket), {
      shareId,
      audience: "public",
      recipient,
      owner: world.adasVault.userId,
      ownerKey: null,
    });
    const { keys } = world.adasVault;
    if (whole === null || keys === null) throw new TypeError("Ada is unlocked, and the link is hers");
    const { sig: _sig, ...signed } = whole;
    world.stored(shareId).ticket = toB64u(
      await sealSignedShare(
        recipient,
        await signDocument("ticket", { ...signed, title: "", name: " ", mime: "" }, keys.signer),
      ),
    );
    const { title, name, mime, contentKind, content } = await openShare(world.visit(link), shareId, nothing);
    expect({ title, name, mime }).toEqual({ title: "", name: "secret.txt", mime: "application/octet-stream" });
    const secret = {
      ...textSecret("Kept"),
      contentKind,
      name,
      mime,
      content: new Blob([copyOf(content ?? new Uint8Array())]),
    };
    await expect(protect(world.bensVault, secret, {})).resolves.toMatchObject({ version: 1 });
  });

  it("cannot make a ticket for a link whose key it does not have", async () => {
    const { shareId, link } = await world.share({});
    const visitor = world.visit(link);
    const recipient = await recipientOf(linkIdentity(new Uint8Array(32), null));
    const forged = await sealShareTicket(
      mallory,
      {
        shareId,
        audience: "public",
        rev: 1,
        recipient,
        owner: world.adasVault.userId,
        createdAt: "2026-11-21T10:00:00.000Z",
      },
      { title: "Pay this", name: "a" },
      contentOfMallory,
    );
    visitor.service.answer = (_call, answer) => (hasTicket(answer) ? { ...answer, ticket: toB64u(forged) } : answer);
    expect(await codeOf(openShare(visitor, shareId, nothing))).toBe("decryption_failed");
  });

  it("is refused where it asks for a picture and gives no helper, before a view is claimed", async () => {
    const { shareId, link } = await world.share({});
    const visitor = world.visit(link);
    visitor.service.answer = (_call, answer) =>
      typeof answer === "object" && answer !== null && "share_helper" in answer ? { ...answer, picture: true } : answer;
    expect(await codeOf(openShare(visitor, shareId, nothing))).toBe("decryption_failed");
    expect(world.stored(shareId).claims.size).toBe(0);
  });

  it("cannot turn a public link into one for signed-in people, nor leave out its picture or password", async () => {
    const { shareId, link } = await world.share({ password: "four words" });
    const visitor = world.visit(link);
    visitor.service.answer = (_call, answer) =>
      typeof answer === "object" && answer !== null && "share_helper" in answer
        ? { ...answer, password: false }
        : answer;
    expect(await codeOf(openShare(visitor, shareId, nothing))).toBe("wrong_password");
    visitor.service.answer = (_call, answer) =>
      typeof answer === "object" && answer !== null && "share_helper" in answer
        ? { ...answer, audience: "signed_in" }
        : answer;
    expect(await codeOf(openShare(visitor, shareId, { ...nothing, password: "four words" }))).toBe("decryption_failed");
  });
});

describe("a service that replays", () => {
  it("is refused with an update older than one that was opened, on this device, after a reload too", async () => {
    const { adasVault, bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const first = world.stored(shareId).ticket;
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    await openReceived(bensVault, shareId, null);
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(adasVault, shareId, byMarket);
    await openReceived(bensVault, shareId, null);
    world.stored(shareId).version = 1;
    world.stored(shareId).ticket = first;
    expect(await codeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
    expect((await (await ben.deviceNamed()).read()).openedShares).toEqual((await bensVault.device.read()).openedShares);
    expect((await bensVault.device.read()).openedShares).toEqual({ [shareId]: 2 });
  });

  it("is refused with an old share under the id of a new one", async () => {
    const { bensVault } = world;
    const [oldId, newId] = [await world.shareWithBen(), await world.shareWithBen()];
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    world.stored(newId).ticket = world.stored(oldId).ticket;
    expect(await codeOf(openReceived(bensVault, newId, null))).toBe("decryption_failed");
  });
});
