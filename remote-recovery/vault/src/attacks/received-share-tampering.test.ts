import "fake-indexeddb/auto";

import { fromBase64url, toBase64url, type KeyStatement, type ReceivedShares } from "@relicario/shared/api";

import { protect } from "../operations/protect.ts";
import { update } from "../operations/update.ts";
import { findPerson, listPeople, pinPerson, setBlocked, setCompared } from "../people/people.ts";
import { assessTrust } from "../people/pinned-keys.ts";
import { openReceived, listReceivedShares } from "../received/received-shares.ts";
import { AccountKey, deriveMetadataKeys, signDocument, type MetadataKeys } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { deriveRecipient } from "../seal/age.ts";
import { copyOf } from "../seal/bytes.ts";
import { deriveLinkIdentity } from "../seal/link-keys.ts";
import { updateShareContent } from "../shares/change-shares.ts";
import { openShare } from "../shares/open-link.ts";
import { openShareTicket } from "../seal/share-ticket.ts";
import { sealShareTicket, sealSignedShareTicket } from "../shares/seal-share-ticket.ts";
import type { SharedContent } from "../shares/shared-content.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { marketPicture, errorCodeOf, createSharingWorld, type SharingWorld } from "../testing/sharing-world.ts";
import { textSecret } from "../testing/world.ts";

/*
 * The service between two people lies: about keys, tickets, contents, about who sent something and
 * which update it is. Each lie ends in a refusal, before a view is claimed or anything is sealed
 * wherever that can be known before.
 */

const noCredentials = { password: null, picture: null };
const mallorysId = "019a9e2c-7c1e-7abc-8def-000000000009";

let world: SharingWorld;
let mallory: MetadataKeys;
beforeAll(async () => {
  mallory = await deriveMetadataKeys(AccountKey.generate(1));
});
beforeEach(async () => {
  world = await createSharingWorld();
});

/** The directory says these keys of a name, correctly signed. */
function claimKeys(userName: "ada" | "ben", viewer: SharingWorld["ada"], statement: KeyStatement): void {
  viewer.service.transformAnswer = (call, answer) =>
    call.toLowerCase() === `get /users/${userName}/key` ? statement : answer;
}

/** Replaces members of what a claim is answered. */
function alterClaim(viewer: SharingWorld["ada"], change: (claimed: { ticket: string }) => object): void {
  viewer.service.transformAnswer = (call, answer) =>
    call.startsWith("POST /share/get-") && hasTicket(answer) ? { ...answer, ...change(answer) } : answer;
}

function hasTicket(answer: unknown): answer is { ticket: string } {
  return typeof answer === "object" && answer !== null && "ticket" in answer;
}

const malloryContent: SharedContent = {
  secretId: "019a9e2c-7c1e-7abc-8def-000000000001",
  version: 1,
  identity: deriveLinkIdentity(new Uint8Array(32), null),
  sha256: toBase64url(new Uint8Array(32)),
  kind: "text",
  size: 5,
  mime: "text/plain",
  author: "verified",
};

describe("a service that swaps the recipient's key", () => {
  it("is stopped with both sets of words, before anything is sealed", async () => {
    const { adasVault, ada } = world;
    await pinPerson(adasVault, await findPerson(adasVault, "Ben"));
    const [{ userId, safetyWords } = await findPerson(adasVault, "Ben")] = await listPeople(adasVault);
    await setCompared(adasVault, userId, true);
    claimKeys("ben", ada, await createKeyStatement(mallory, userId));
    const swapped = await findPerson(adasVault, "Ben");
    expect(swapped).toMatchObject({ trust: "changed", formerSafetyWords: safetyWords });
    expect(swapped.safetyWords).not.toEqual(safetyWords);
    await expect(world.share({ to: { audience: "person", person: swapped } })).rejects.toMatchObject({
      code: "person_changed",
      details: { words: swapped.safetyWords, former_words: safetyWords },
    });
    expect(world.sharing.shares.size).toBe(0);
  });

  it("is stopped when it does so after the words were shown", async () => {
    const { adasVault, ada } = world;
    const person = await findPerson(adasVault, "Ben");
    claimKeys("ben", ada, await createKeyStatement(mallory, person.userId));
    expect(await errorCodeOf(world.share({ to: { audience: "person", person } }))).toBe("person_changed");
    expect(await errorCodeOf(pinPerson(adasVault, person))).toBe("person_changed");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("cannot put another account behind a known name", async () => {
    const { adasVault, ada } = world;
    await pinPerson(adasVault, await findPerson(adasVault, "Ben"));
    claimKeys("ben", ada, await createKeyStatement(mallory, mallorysId));
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ trust: "changed" });
  });

  it("cannot put a known account behind another known name, nor behind a name of nobody", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    const statement = await createKeyStatement(mallory, mallorysId);
    for (const name of ["mallory", "notary"])
      world.sharing.people.set(name, { userId: mallorysId, userName: name, account: () => world.ben.service.account });
    ada.service.transformAnswer = (call, answer) =>
      /^get \/users\/(mallory|notary)\/key$/.test(call.toLowerCase()) ? statement : answer;
    await pinPerson(adasVault, await findPerson(adasVault, "Mallory"));
    await setCompared(adasVault, mallorysId, true);

    await expect(findPerson(adasVault, "notary")).resolves.toMatchObject({
      trust: "changed",
      formerName: "Mallory",
    });
    claimKeys("ben", ada, statement);
    const swapped = await findPerson(adasVault, "Ben");
    expect(swapped).toMatchObject({
      userId: mallorysId,
      trust: "changed",
      formerSafetyWords: ben.safetyWords,
      formerName: null,
    });
    await expect(world.share({ to: { audience: "person", person: swapped } })).rejects.toMatchObject({
      code: "person_changed",
      details: { user_id: mallorysId, former_words: ben.safetyWords },
    });
    expect(world.sharing.shares.size).toBe(0);
  });

  it("is found out by either key alone", async () => {
    const { adasVault } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    const [pinned] = (await refreshKeyring(adasVault))?.openedKeyring?.book.people ?? [];
    const statement = await createKeyStatement(mallory, ben.userId);
    const trustWith = (keys: object): string =>
      assessTrust(pinned === undefined ? [] : [pinned], {
        userId: ben.userId,
        userName: "ben",
        statement: {
          ...statement,
          recipient: pinned?.recipient ?? "",
          signing_key: pinned?.signing_key ?? "",
          ...keys,
        },
      }).trust;
    expect(trustWith({})).toBe("known");
    expect(trustWith({ recipient: statement.recipient })).toBe("changed");
    expect(trustWith({ signing_key: statement.signing_key })).toBe("changed");
  });

  it("has a stranger blocked behind a known name, and leaves the one who has that name as they were", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    await setCompared(adasVault, ben.userId, true);
    claimKeys("ben", ada, await createKeyStatement(mallory, mallorysId));
    await setBlocked(adasVault, await findPerson(adasVault, "Ben"), true);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: mallorysId,
      trust: "changed",
      formerSafetyWords: ben.safetyWords,
      blocked: true,
    });
    ada.service.transformAnswer = (_call, answer) => answer;
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: ben.userId,
      trust: "compared",
      blocked: false,
    });
  });

  it("has its other account take the place of the known one on request alone, not compared, and blocked where one was", async () => {
    const { adasVault, ada } = world;
    const ben = await findPerson(adasVault, "Ben");
    await pinPerson(adasVault, ben);
    await setBlocked(adasVault, ben, true);
    claimKeys("ben", ada, await createKeyStatement(mallory, mallorysId));
    const other = await findPerson(adasVault, "Ben");
    expect(other).toMatchObject({ userId: mallorysId, trust: "changed", blocked: true });
    await pinPerson(adasVault, other);
    await expect(listPeople(adasVault)).resolves.toMatchObject([{ userId: mallorysId, trust: "known", blocked: true }]);
    await setBlocked(adasVault, other, false);
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({ trust: "known", blocked: false });
    ada.service.transformAnswer = (_call, answer) => answer;
    await expect(findPerson(adasVault, "Ben")).resolves.toMatchObject({
      userId: ben.userId,
      trust: "changed",
      formerSafetyWords: other.safetyWords,
    });
  });

  it("cannot change it under a share that exists", async () => {
    const { adasVault, ada } = world;
    const shareId = await world.shareWithBen();
    await update(adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    claimKeys("ben", ada, await createKeyStatement(mallory, world.stored(shareId).createBody.recipient ?? ""));
    expect(await errorCodeOf(updateShareContent(adasVault, shareId, marketPicture))).toBe("person_changed");
    expect(world.stored(shareId).version).toBe(1);
  });

  it("is found out by whose key it is: a statement that does not verify, and one of this account that it never made", async () => {
    const { adasVault, ada } = world;
    const statement = await createKeyStatement(
      mallory,
      world.stored(await world.shareWithBen()).createBody.recipient ?? "",
    );
    claimKeys("ben", ada, { ...statement, key_epoch: 7 });
    expect(await errorCodeOf(findPerson(adasVault, "Ben"))).toBe("decryption_failed");
    claimKeys("ada", ada, await createKeyStatement(mallory, adasVault.userId));
    expect(await errorCodeOf(findPerson(adasVault, "Ada"))).toBe("own_key_changed");
  });
});

describe("a service that swaps the sender", () => {
  it("is stopped before a view is claimed when it gives another signing key", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    claimKeys("ada", ben, await createKeyStatement(mallory, world.adasVault.userId));
    expect(await errorCodeOf(openReceived(bensVault, shareId, null))).toBe("person_changed");
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
      malloryContent,
    );
    alterClaim(ben, () => ({ ticket: toBase64url(forged) }));
    expect(await errorCodeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
  });

  it("cannot say that a known person has another name, in the list or when it opens", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    const ada = await findPerson(bensVault, "Ada");
    await pinPerson(bensVault, ada);
    await setCompared(bensVault, ada.userId, true);
    const from = { user_id: ada.userId, user_name: "notary" };
    ben.service.transformAnswer = (call, answer) => {
      if (call === "GET /user/share-with-me")
        return { shares: (answer as ReceivedShares).shares.map((share) => ({ ...share, from })) };
      return call.startsWith("POST /share/get-") ? { ...(answer as object), from } : answer;
    };
    await expect(listReceivedShares(bensVault)).resolves.toMatchObject([
      { from: { userId: ada.userId, userName: "Ada", trust: "changed" } },
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
    const { safetyWords } = await findPerson(bensVault, "Ada");
    claimKeys("ada", ben, await createKeyStatement(mallory, world.adasVault.userId));
    await expect(openReceived(bensVault, shareId, null, { acceptedWords: safetyWords })).rejects.toMatchObject({
      code: "person_unknown",
    });
    expect(world.stored(shareId).claims.size).toBe(0);
    await expect(listPeople(bensVault)).resolves.toEqual([]);
  });

  it("cannot say that somebody else sent it", async () => {
    const { bensVault, ben } = world;
    const shareId = await world.shareWithBen();
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    alterClaim(ben, () => ({ from: { user_id: bensVault.userId, user_name: "Ben" } }));
    expect(await errorCodeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
  });
});

describe("a service that swaps ticket or content", () => {
  it("is refused with the ticket of another share, of another link, and with content that is not the ticket's", async () => {
    const { bensVault, ben } = world;
    const [shareId, otherId] = [await world.shareWithBen(), await world.shareWithBen()];
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    alterClaim(ben, () => ({ ticket: world.stored(otherId).ticket }));
    expect(await errorCodeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");

    const [link, other] = [await world.share({}), await world.share({})];
    const visitor = world.visit(link.link);
    visitor.service.transformAnswer = (_call, answer) =>
      hasTicket(answer) ? { ...answer, ticket: world.stored(other.shareId).ticket } : answer;
    expect(await errorCodeOf(openShare(visitor, link.shareId, noCredentials))).toBe("decryption_failed");

    visitor.service.transformAnswer = (call, answer) => {
      if (call !== "POST /share/content") return answer;
      const content = fromBase64url(world.ben.service.account.rows.values().next().value?.versions[0]?.content ?? "");
      return { totalSize: content.length, offset: 0, body: new Blob([content]).stream() };
    };
    expect(["decryption_failed", "bad_answer"]).toContain(
      await errorCodeOf(openShare(visitor, link.shareId, noCredentials)),
    );
  });

  it("cannot have names opened that are longer than the portal takes, whoever sealed them", async () => {
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
      const sealed = await sealShareTicket(
        mallory,
        { ...expected, rev: 1, createdAt: "2026-11-21T10:00:00.000Z" },
        label,
        { ...malloryContent, mime },
      );
      return errorCodeOf(openShareTicket(identity, sealed, expected));
    };
    expect(await openWithNames({ title: "🔑".repeat(200), name: "🔑".repeat(255) })).toBe("none");
    expect(await openWithNames({ title: "t".repeat(201), name: "a" })).toBe("decryption_failed");
    expect(await openWithNames({ title: "t", name: "n".repeat(256) })).toBe("decryption_failed");
    expect(await openWithNames({ title: "t", name: "a" }, "m".repeat(256))).toBe("decryption_failed");
  });

  it("is opened under plain names when its ticket has none, so that it can be shown, saved and kept", async () => {
    const { shareId, link } = await world.share({});
    const key = fromBase64url(link?.split("#s=")[1] ?? "");
    const identity = deriveLinkIdentity(key, null);
    const recipient = await deriveRecipient(identity);
    const ticket = await openShareTicket(identity, fromBase64url(world.stored(shareId).ticket), {
      shareId,
      audience: "public",
      recipient,
      owner: world.adasVault.userId,
      ownerKey: null,
    });
    const { keys } = world.adasVault;
    if (ticket === null || keys === null) throw new TypeError("Ada is unlocked, and the link is hers");
    const { sig: _sig, ...signed } = ticket;
    world.stored(shareId).ticket = toBase64url(
      await sealSignedShareTicket(
        recipient,
        await signDocument("ticket", { ...signed, title: "", name: " ", mime: "" }, keys.signer),
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

  it("cannot make a ticket for a link whose key it does not have", async () => {
    const { shareId, link } = await world.share({});
    const visitor = world.visit(link);
    const recipient = await deriveRecipient(deriveLinkIdentity(new Uint8Array(32), null));
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
      malloryContent,
    );
    visitor.service.transformAnswer = (_call, answer) =>
      hasTicket(answer) ? { ...answer, ticket: toBase64url(forged) } : answer;
    expect(await errorCodeOf(openShare(visitor, shareId, noCredentials))).toBe("decryption_failed");
  });

  it("is refused where it asks for a picture and gives no helper, before a view is claimed", async () => {
    const { shareId, link } = await world.share({});
    const visitor = world.visit(link);
    visitor.service.transformAnswer = (_call, answer) =>
      typeof answer === "object" && answer !== null && "share_helper" in answer ? { ...answer, picture: true } : answer;
    expect(await errorCodeOf(openShare(visitor, shareId, noCredentials))).toBe("decryption_failed");
    expect(world.stored(shareId).claims.size).toBe(0);
  });

  it("cannot turn a public link into one for signed-in people, nor leave out its picture or password", async () => {
    const { shareId, link } = await world.share({ password: "four words" });
    const visitor = world.visit(link);
    visitor.service.transformAnswer = (_call, answer) =>
      typeof answer === "object" && answer !== null && "share_helper" in answer
        ? { ...answer, password: false }
        : answer;
    expect(await errorCodeOf(openShare(visitor, shareId, noCredentials))).toBe("wrong_password");
    visitor.service.transformAnswer = (_call, answer) =>
      typeof answer === "object" && answer !== null && "share_helper" in answer
        ? { ...answer, audience: "signed_in" }
        : answer;
    expect(await errorCodeOf(openShare(visitor, shareId, { ...noCredentials, password: "four words" }))).toBe(
      "decryption_failed",
    );
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
    await updateShareContent(adasVault, shareId, marketPicture);
    await openReceived(bensVault, shareId, null);
    world.stored(shareId).version = 1;
    world.stored(shareId).ticket = first;
    expect(await errorCodeOf(openReceived(bensVault, shareId, null))).toBe("decryption_failed");
    expect((await (await ben.openNamedDevice()).read()).openedShares).toEqual(
      (await bensVault.device.read()).openedShares,
    );
    expect((await bensVault.device.read()).openedShares).toEqual({ [shareId]: 2 });
  });

  it("is refused with an old share under the id of a new one", async () => {
    const { bensVault } = world;
    const [oldId, newId] = [await world.shareWithBen(), await world.shareWithBen()];
    await pinPerson(bensVault, await findPerson(bensVault, "Ada"));
    world.stored(newId).ticket = world.stored(oldId).ticket;
    expect(await errorCodeOf(openReceived(bensVault, newId, null))).toBe("decryption_failed");
  });
});
