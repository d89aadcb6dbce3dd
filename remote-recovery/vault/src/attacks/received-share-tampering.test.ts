import "fake-indexeddb/auto";

import { fromBase64url, toBase64url, type KeyStatement, type ReceivedShares } from "@relicario/shared/api";

import { protect } from "../operations/protect.ts";
import { update } from "../operations/update.ts";
import { findPerson, listPeople, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { assessTrust } from "../people/pinned-keys.ts";
import { openReceived, listReceivedShares } from "../received/received-shares.ts";
import { AccountKey, signDocument } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { deriveRecipient } from "../seal/age.ts";
import { copyOf } from "../seal/bytes.ts";
import { deriveLinkIdentity } from "../seal/link-keys.ts";
import { updateShareContent } from "../shares/change-shares.ts";
import { openShare } from "../shares/open-link.ts";
import { openShareTicket } from "../seal/share-ticket.ts";
import { sealShareTicket, sealSignedShareTicket } from "../shares/seal-share-ticket.ts";
import type { SharedContentKey } from "../shares/shared-content-key.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { marketPicture, readErrorCode, createSharingWorld, type SharingWorld } from "../testing/sharing-world.ts";
import { textSecret } from "../testing/world.ts";

/**
 * Attacker: the service between two people. It lies about keys, tickets, contents, senders and
 * updates. Every lie is refused, if possible before a view is claimed or anything is sealed.
 */

const noCredentials = { password: null, picture: null };
const mallorysId = "019a9e2c-7c1e-7abc-8def-000000000009";

let world: SharingWorld;
let mallory: AccountKey;
beforeAll(async () => {
  mallory = AccountKey.generate(1);
});
beforeEach(async () => {
  world = await createSharingWorld();
});

/** Makes the key directory return this correctly signed statement for a name. */
function serveKeyStatement(userName: "ada" | "ben", viewer: SharingWorld["ada"], statement: KeyStatement): void {
  viewer.service.transformResponse = (call, response) =>
    call.toLowerCase() === `get /users/${userName}/key` ? statement : response;
}

/** Replaces members of the response to a claim. */
function alterClaim(viewer: SharingWorld["ada"], change: (claimResponse: { ticket: string }) => object): void {
  viewer.service.transformResponse = (call, response) =>
    call.startsWith("POST /share/get-") && hasTicket(response) ? { ...response, ...change(response) } : response;
}

function hasTicket(response: unknown): response is { ticket: string } {
  return typeof response === "object" && response !== null && "ticket" in response;
}

const malloryContent: SharedContentKey = {
  secretId: "019a9e2c-7c1e-7abc-8def-000000000001",
  version: 1,
  identity: deriveLinkIdentity(new Uint8Array(32), null),
  sha256: toBase64url(new Uint8Array(32)),
  kind: "text",
  size: 5,
  mime: "text/plain",
  signatureStatus: "verified",
};

describe("a service that swaps the recipient's key", () => {
  it("is refused with both sets of safety words, before anything is sealed", async () => {
    const { adasVault, ada } = world;
    await pinPerson(adasVault, await findPerson(adasVault, "Ben"));
    const [{ userId, safetyWords } = await findPerson(adasVault, "Ben")] = await listPeople(adasVault);
    await setCompared(adasVault, userId, true);
    serveKeyStatement("ben", ada, await createKeyStatement(mallory, userId));
    const swappedPerson = await findPerson(adasVault, "Ben");
    expect(swappedPerson).toMatchObject({ trust: "changed", formerSafetyWords: safetyWords });
    expect(swappedPerson.safetyWords).not.toEqual(safetyWords);
    await expect(world.share({ to: { audience: "person", person: swappedPerson } })).rejects.toMatchObject({
      code: "person_changed",
      details: { words: swappedPerson.safetyWords, former_words: safetyWords },
    });
    expect(world.sharing.shares.size).toBe(0);
  });

  it("is refused when it swaps the key after the safety words were shown", async () => {
    const { adasVault, ada } = world;
    const person = await findPerson(adasVault, "Ben");
    serveKeyStatement("ben", ada, await createKeyStatement(mallory, person.userId));
    expect(await readErrorCode(world.share({ to: { audience: "person", person } }))).toBe("person_changed");
    expect(await readErrorCode(pinPerson(adasVault, person))).toBe("person_changed");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("cannot put another account behind a known name", async () => {
    const { adasVault, ada } = world;
    await pinPerson(adasVault, await findPerson(adasVault, "Ben"));
    serveKeyStatement("ben", ada, await createKeyStatement(mallory, mallorysId));
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ trust: "changed" });
  });

  it("cannot put a known account behind another known name, or behind an unused one", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    const statement = await createKeyStatement(mallory, mallorysId);
    for (const name of ["mallory", "notary"])
      world.sharing.people.set(name, { userId: mallorysId, userName: name, account: () => world.ben.service.account });
    ada.service.transformResponse = (call, response) =>
      /^get \/users\/(mallory|notary)\/key$/.test(call.toLowerCase()) ? statement : response;
    await pinPerson(adasVault, await findPerson(adasVault, "Mallory"));
    await setCompared(adasVault, mallorysId, true);

    await expect(findPerson(adasVault, "notary")).resolves.toMatchObject({
      trust: "changed",
      formerName: "Mallory",
    });
    serveKeyStatement("ben", ada, statement);
    const swappedPerson = await findPerson(adasVault, "Ben");
    expect(swappedPerson).toMatchObject({
      userId: mallorysId,
      trust: "changed",
      formerSafetyWords: ben.safetyWords,
      formerName: null,
    });
    await expect(world.share({ to: { audience: "person", person: swappedPerson } })).rejects.toMatchObject({
      code: "person_changed",
      details: { user_id: mallorysId, former_words: ben.safetyWords },
    });
    expect(world.sharing.shares.size).toBe(0);
  });

  it("is detected by any of the three keys", async () => {
    const { adasVault } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    const [pinnedPerson] = (await refreshKeyring(adasVault))?.openedKeyring?.book.people ?? [];
    const statement = await createKeyStatement(mallory, ben.userId);
    const assessWith = (keys: object): string =>
      assessTrust(pinnedPerson === undefined ? [] : [pinnedPerson], {
        userId: ben.userId,
        userName: "ben",
        statement: {
          ...statement,
          recipient: pinnedPerson?.recipient ?? "",
          signing_key: pinnedPerson?.signing_key ?? "",
          author_key: pinnedPerson?.author_key ?? "",
          ...keys,
        },
      }).trust;
    expect(assessWith({})).toBe("known");
    expect(assessWith({ recipient: statement.recipient })).toBe("changed");
    expect(assessWith({ signing_key: statement.signing_key })).toBe("changed");
    expect(assessWith({ author_key: statement.author_key })).toBe("changed");
  });

  it("can at most get a stranger blocked under a known name: the known person is unchanged", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    await setCompared(adasVault, ben.userId, true);
    serveKeyStatement("ben", ada, await createKeyStatement(mallory, mallorysId));
    await setBlocked(adasVault, await findPerson(adasVault, "Ben"), true);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: mallorysId,
      trust: "changed",
      formerSafetyWords: ben.safetyWords,
      blocked: true,
    });
    ada.service.transformResponse = (_call, response) => response;
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: ben.userId,
      trust: "compared",
      blocked: false,
    });
  });

  it("replaces a known account only after the user pins the other account, which is then not compared and still blocked", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    await setBlocked(adasVault, ben, true);
    serveKeyStatement("ben", ada, await createKeyStatement(mallory, mallorysId));
    const otherPerson = await findPerson(adasVault, "Ben");
    expect(otherPerson).toMatchObject({ userId: mallorysId, trust: "changed", blocked: true });
    await pinPerson(adasVault, otherPerson);
    await expect(listPeople(adasVault)).resolves.toMatchObject([{ userId: mallorysId, trust: "known", blocked: true }]);
    await setBlocked(adasVault, otherPerson, false);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ trust: "known", blocked: false });
    ada.service.transformResponse = (_call, response) => response;
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: ben.userId,
      trust: "changed",
      formerSafetyWords: otherPerson.safetyWords,
    });
  });

  it("cannot swap the key under an existing share", async () => {
    const { adasVault, ada } = world;
    const shareId = await world.shareWithBen();
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    serveKeyStatement(
      "ben",
      ada,
      await createKeyStatement(mallory, world.requireStoredShare(shareId).createBody.recipient ?? ""),
    );
    expect(await readErrorCode(updateShareContent(adasVault, shareId, marketPicture))).toBe("person_changed");
    expect(world.requireStoredShare(shareId).version).toBe(1);
  });

  it("is refused with a statement that does not verify, and with a false statement for this account", async () => {
    const { adasVault, ada } = world;
    const statement = await createKeyStatement(
      mallory,
      world.requireStoredShare(await world.shareWithBen()).createBody.recipient ?? "",
    );
    serveKeyStatement("ben", ada, { ...statement, key_epoch: 7 });
    expect(await readErrorCode(findPerson(adasVault, "Ben"))).toBe("decryption_failed");
    serveKeyStatement("ada", ada, await createKeyStatement(mallory, adasVault.userId));
    expect(await readErrorCode(findPerson(adasVault, "Ada"))).toBe("own_key_changed");
  });
});

describe("a service that swaps the sender", () => {
  it("is refused with another signing key, before a view is claimed", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    serveKeyStatement("ada", ben, await createKeyStatement(mallory, world.adasVault.userId));
    expect(await readErrorCode(openReceived(bensVault, shareId, null))).toBe("person_changed");
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
  });

  it("cannot pass off its own ticket as a known person's", async () => {
    const { bensVault, ben, adasVault } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    const recipient = ben.service.account.keyring?.keyStatement.recipient ?? "";
    const { ticket: forgedTicket } = await sealShareTicket(
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
      malloryContent,
    );
    alterClaim(ben, () => ({ ticket: toBase64url(forgedTicket) }));
    expect(await readErrorCode(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
  });

  it("cannot rename a known person, in the list or on opening", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const ada = await findPerson(bensVault, "Ada");
    await pinPerson(bensVault, ada);
    await setCompared(bensVault, ada.userId, true);
    const from = { user_id: ada.userId, user_name: "notary" };
    ben.service.transformResponse = (call, response) => {
      if (call === "GET /user/share-with-me")
        return {
          ...(response as ReceivedShares),
          shares: (response as ReceivedShares).shares.map((share) => ({ ...share, from })),
        };
      return call.startsWith("POST /share/get-") ? { ...(response as object), from } : response;
    };
    await expect(listReceivedShares(bensVault)).resolves.toMatchObject([
      { from: { userId: ada.userId, userName: "Ada", trust: "changed" } },
    ]);
    await expect(openReceived(bensVault, shareId, null)).rejects.toMatchObject({
      code: "person_changed",
      details: { user_id: ada.userId, former_name: "Ada" },
    });
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
  });

  it("is refused with keys other than those that were accepted", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const { safetyWords } = await findPerson(bensVault, "Ada");
    serveKeyStatement("ada", ben, await createKeyStatement(mallory, world.adasVault.userId));
    await expect(openReceived(bensVault, shareId, null, { acceptedWords: safetyWords })).rejects.toMatchObject({
      code: "person_unknown",
    });
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
    await expect(listPeople(bensVault)).resolves.toEqual([]);
  });

  it("cannot name another sender", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    alterClaim(ben, () => ({ from: { user_id: bensVault.userId, user_name: "Ben" } }));
    expect(await readErrorCode(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
  });
});

describe("a service that swaps ticket or content", () => {
  it("is refused with the ticket of another share or another link, and with content that is not the ticket's", async () => {
    const { bensVault, ben } = world;
    const [shareId, otherId] = [await world.shareWithBen(), await world.shareWithBen()];
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    alterClaim(ben, () => ({ ticket: world.requireStoredShare(otherId).ticket }));
    expect(await readErrorCode(openReceived(bensVault, shareId, null))).toBe("decryption_failed");

    const [linkShare, otherShare] = [await world.share({}), await world.share({})];
    const visitor = world.visit(linkShare.link);
    visitor.service.transformResponse = (_call, response) =>
      hasTicket(response) ? { ...response, ticket: world.requireStoredShare(otherShare.shareId).ticket } : response;
    expect(await readErrorCode(openShare(visitor, linkShare.shareId, noCredentials))).toBe("decryption_failed");

    visitor.service.transformResponse = (call, response) => {
      if (call !== "POST /share/content") return response;
      const content = fromBase64url(world.ben.service.account.rows.values().next().value?.versions[0]?.content ?? "");
      return { totalSize: content.length, offset: 0, body: new Blob([content]).stream() };
    };
    expect(["decryption_failed", "bad_answer"]).toContain(
      await readErrorCode(openShare(visitor, linkShare.shareId, noCredentials)),
    );
  });

  it("cannot have names opened that exceed the portal's limits", async () => {
    const identity = deriveLinkIdentity(new Uint8Array(32), null);
    const expected = {
      shareId: "AAAAAAAAAAAAAAAAAAAAAA",
      audience: "public",
      recipient: await deriveRecipient(identity),
      owner: world.adasVault.userId,
      ownerKey: null,
    } as const;
    const openWithNames = async (
      label: { readonly title: string; readonly name: string },
      mime = "text/plain",
    ): Promise<unknown> => {
      const { ticket: sealed } = await sealShareTicket(
        mallory,
        { ...expected, rev: 1, createdAt: "2026-11-21T10:00:00.000Z" },
        label,
        { ...malloryContent, mime },
      );
      return readErrorCode(openShareTicket(identity, sealed, expected));
    };
    expect(await openWithNames({ title: "🔑".repeat(200), name: "🔑".repeat(255) })).toBe("none");
    expect(await openWithNames({ title: "t".repeat(201), name: "a" })).toBe("decryption_failed");
    expect(await openWithNames({ title: "t", name: "n".repeat(256) })).toBe("decryption_failed");
    expect(await openWithNames({ title: "t", name: "a" }, "m".repeat(256))).toBe("decryption_failed");
  });

  it("gets default names for a ticket without names, so that the content can be saved and protected", async () => {
    const { shareId, link } = await world.share({});
    const key = fromBase64url(link?.split("#s=")[1] ?? "");
    const identity = deriveLinkIdentity(key, null);
    const recipient = await deriveRecipient(identity);
    const ticket = await openShareTicket(identity, fromBase64url(world.requireStoredShare(shareId).ticket), {
      shareId,
      audience: "public",
      recipient,
      owner: world.adasVault.userId,
      ownerKey: null,
    });
    const { accountKey } = world.adasVault;
    if (ticket === null || accountKey === null)
      throw new TypeError("expected an unlocked vault and a link of this account");
    const { sig: _sig, ...ticketFields } = ticket;
    world.requireStoredShare(shareId).ticket = toBase64url(
      await sealSignedShareTicket(
        recipient,
        await signDocument("ticket", { ...ticketFields, title: "", name: " ", mime: "" }, await accountKey.getAuthor()),
      ),
    );
    const { title, name, mime, contentKind, content } = await openShare(world.visit(link), shareId, noCredentials);
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

  it("cannot make a ticket for a link without the link's key", async () => {
    const { shareId, link } = await world.share({});
    const visitor = world.visit(link);
    const recipient = await deriveRecipient(deriveLinkIdentity(new Uint8Array(32), null));
    const { ticket: forgedTicket } = await sealShareTicket(
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
      malloryContent,
    );
    visitor.service.transformResponse = (_call, response) =>
      hasTicket(response) ? { ...response, ticket: toBase64url(forgedTicket) } : response;
    expect(await readErrorCode(openShare(visitor, shareId, noCredentials))).toBe("decryption_failed");
  });

  it("is refused when it demands a picture but provides no helper, before a view is claimed", async () => {
    const { shareId, link } = await world.share({});
    const visitor = world.visit(link);
    visitor.service.transformResponse = (_call, response) =>
      typeof response === "object" && response !== null && "share_helper" in response
        ? { ...response, picture: true }
        : response;
    expect(await readErrorCode(openShare(visitor, shareId, noCredentials))).toBe("decryption_failed");
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
  });

  it("cannot turn a public link into one for signed-in people, or omit the password of a link", async () => {
    const { shareId, link } = await world.share({ password: "four words" });
    const visitor = world.visit(link);
    visitor.service.transformResponse = (_call, response) =>
      typeof response === "object" && response !== null && "share_helper" in response
        ? { ...response, password: false }
        : response;
    expect(await readErrorCode(openShare(visitor, shareId, noCredentials))).toBe("wrong_password");
    visitor.service.transformResponse = (_call, response) =>
      typeof response === "object" && response !== null && "share_helper" in response
        ? { ...response, audience: "signed_in" }
        : response;
    expect(await readErrorCode(openShare(visitor, shareId, { ...noCredentials, password: "four words" }))).toBe(
      "decryption_failed",
    );
  });
});

describe("a service that replays", () => {
  it("is refused with an update older than one that was opened on this device, even after a reload", async () => {
    const { adasVault, bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const firstTicket = world.requireStoredShare(shareId).ticket;
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    await openReceived(bensVault, shareId, null);
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    await updateShareContent(adasVault, shareId, marketPicture);
    await openReceived(bensVault, shareId, null);
    world.requireStoredShare(shareId).version = 1;
    world.requireStoredShare(shareId).ticket = firstTicket;
    expect(await readErrorCode(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
    expect((await (await ben.openNamedDevice()).read()).openedShares).toEqual(
      (await bensVault.device.read()).openedShares,
    );
    expect((await bensVault.device.read()).openedShares).toEqual({ [shareId]: 2 });
  });

  it("is refused with an old share under the id of a new one", async () => {
    const { bensVault } = world;
    const [oldId, newId] = [await world.shareWithBen(), await world.shareWithBen()];
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    world.requireStoredShare(newId).ticket = world.requireStoredShare(oldId).ticket;
    expect(await readErrorCode(openReceived(bensVault, newId, null))).toBe("decryption_failed");
  });
});
