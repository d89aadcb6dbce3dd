import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { moveToTrash } from "../operations/favorite-and-trash.ts";
import { protect } from "../operations/protect.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import {
  marketPicture,
  readErrorCode,
  createSharingWorld,
  decodeText,
  type SharingWorld,
} from "../testing/sharing-world.ts";
import { makePicture, textSecret } from "../testing/world.ts";
import { changeShare, revokeShare, revealShareLink, updateShareContent } from "./change-shares.ts";
import { listShares, listSharesOfSecret } from "./list-shares.ts";
import { inspectShare, openShare } from "./open-link.ts";

const noCredentials = { password: null, picture: null };

let world: SharingWorld;
beforeEach(async () => {
  world = await createSharingWorld({ bensAccount: false });
});

describe("a public link", () => {
  it("opens for anyone who has the link, once for each view", async () => {
    const { shareId, link } = await world.share({ maxViews: 2 });
    expect(link).toMatch(/^\/shared\/[A-Za-z0-9_-]{22}#s=[A-Za-z0-9_-]{43}$/);
    const visitor = world.visit(link);
    await expect(inspectShare(visitor, shareId)).resolves.toMatchObject({
      audience: "public",
      from: { userName: "Ada" },
      hasPassword: false,
      hasPicture: false,
      viewsLeft: 2,
    });
    const openedShare = await openShare(visitor, shareId, noCredentials);
    expect(openedShare).toMatchObject({
      title: "First",
      contentKind: "text",
      name: "secret.txt",
      sender: { userName: "Ada", trust: "says", safetyWords: [] },
    });
    expect(decodeText(openedShare.content)).toBe("content of First");
    await openShare(visitor, shareId, noCredentials);
    expect(await readErrorCode(openShare(visitor, shareId, noCredentials))).toBe("share_unavailable");
  });

  it("uses one view if responses are lost", async () => {
    const { shareId, link } = await world.share({ maxViews: 1 });
    const visitor = world.visit(link);
    let lostResponses = 0;
    visitor.service.transformResponse = (call, response) => {
      const isClaim =
        call === "POST /share/get-public-secret" &&
        typeof response === "object" &&
        response !== null &&
        "ticket" in response;
      if ((isClaim || call === "POST /share/content") && lostResponses++ < 2)
        throw new PortalError("service_unavailable");
      return response;
    };
    if ((await readErrorCode(openShare(visitor, shareId, noCredentials))) !== "none")
      await openShare(visitor, shareId, noCredentials);
    expect(lostResponses).toBeGreaterThanOrEqual(2);
    expect(world.requireStoredShare(shareId).claims.size).toBe(1);
  });

  it("is incomplete without its key, or with the key of another link", async () => {
    const [{ shareId }, { link: otherLink }] = [await world.share({}), await world.share({})];
    expect(await readErrorCode(inspectShare(world.visit(null), shareId))).toBe("link_incomplete");
    expect(await readErrorCode(openShare(world.visit(null), shareId, noCredentials))).toBe("link_incomplete");
    expect(await readErrorCode(openShare(world.visit(otherLink), shareId, noCredentials))).toBe("link_incomplete");
    expect(await readErrorCode(openShare(world.visit(`/shared/${shareId}#s=short`), shareId, noCredentials))).toBe(
      "link_incomplete",
    );
  });

  it("reports every other failure as share_unavailable", async () => {
    const { shareId, link } = await world.share({});
    await revokeShare(world.adasVault, shareId);
    expect(await readErrorCode(inspectShare(world.visit(link), shareId))).toBe("share_unavailable");
    expect(await readErrorCode(inspectShare(world.visit(link), "../user/me"))).toBe("share_unavailable");
  });
});

describe("a link with a password", () => {
  it("opens with the password in any Unicode composition, and counts wrong passwords", async () => {
    const { shareId, link } = await world.share({ password: "café número 1" });
    const visitor = world.visit(link);
    await expect(inspectShare(visitor, shareId)).resolves.toMatchObject({ hasPassword: true });
    expect(await readErrorCode(openShare(visitor, shareId, noCredentials))).toBe("validation_error");
    await expect(openShare(visitor, shareId, { ...noCredentials, password: "cafe" })).rejects.toMatchObject({
      code: "wrong_password",
      details: { tries_left: 9 },
    });
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
    const openedShare = await openShare(visitor, shareId, { ...noCredentials, password: "cafe\u0301 nu\u0301mero 1" });
    expect(decodeText(openedShare.content)).toBe("content of First");
  });

  it("sends neither the password nor the link's key", async () => {
    const { link, shareId } = await world.share({ password: "four words made here" });
    const visitor = world.visit(link);
    await openShare(visitor, shareId, { ...noCredentials, password: "four words made here" });
    const sentText = JSON.stringify([world.ada.service.bodies, visitor.service.bodies]);
    expect(sentText).not.toContain("four words");
    expect(sentText).not.toContain(link?.split("#s=")[1]);
  });
});

describe("a link that also requires a picture", () => {
  it("opens only with that picture, and another picture uses no view", async () => {
    const { shareId, link } = await world.share({ picture: fakePicture("boat") });
    const visitor = world.visit(link);
    await expect(inspectShare(visitor, shareId)).resolves.toMatchObject({ hasPicture: true });
    expect(await readErrorCode(openShare(visitor, shareId, noCredentials))).toBe("picture_needed");
    expect(await readErrorCode(openShare(visitor, shareId, { ...noCredentials, picture: fakePicture("market") }))).toBe(
      "not_this_picture",
    );
    expect(world.requireStoredShare(shareId).claims.size).toBe(0);
    const openedShare = await openShare(visitor, shareId, { ...noCredentials, picture: fakePicture("boat/small") });
    expect(decodeText(openedShare.content)).toBe("content of First");
  });

  it("refuses an opener's picture and its copies", async () => {
    for (const picture of ["market", "market/small", "market/cropped"])
      expect(await readErrorCode(world.share({ picture: fakePicture(picture) }))).toBe("picture_is_opener");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("refuses a picture with unreliable copies, because a share has neither passphrase nor advice", async () => {
    expect(await readErrorCode(world.share({ picture: fakePicture("pale-sand") }))).toBe("picture_too_plain");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("uses the same sketch and a new root key for another share with the same picture", async () => {
    const [first, second] = [
      await world.share({ picture: fakePicture("boat") }),
      await world.share({ picture: fakePicture("boat") }),
    ];
    const [firstHelper, secondHelper] = [first, second].map(
      ({ shareId }) => world.requireStoredShare(shareId).createBody.share_helper ?? "",
    );
    expect(firstHelper).not.toBe(secondHelper);
    const sketchOf = (helper: string | undefined): string =>
      Buffer.from(helper ?? "", "base64url")
        .subarray(52, 394)
        .toString("hex");
    expect(sketchOf(firstHelper)).toBe(sketchOf(secondHelper));
  });

  it("prevents its picture from becoming an opener", async () => {
    await world.share({ picture: fakePicture("boat") });
    expect(await readErrorCode(protect(world.adasVault, textSecret("Second", makePicture("boat")), {}))).toBe(
      "picture_resembles_another",
    );
  });
});

describe("a link for signed-in people", () => {
  it("opens only after sign-in, with the key of the link", async () => {
    const { shareId, link } = await world.share({ to: { audience: "signed_in" } });
    expect(link).toMatch(/^\/p-shared\//);
    expect(await readErrorCode(openShare(world.visit(link), shareId, noCredentials))).toBe("unauthorized");
    expect(decodeText((await openShare(world.visit(link, world.ben), shareId, noCredentials)).content)).toBe(
      "content of First",
    );
  });
});

describe("the owner of a link", () => {
  it("sees the link again with an opener, even on another device", async () => {
    const { shareId, link } = await world.share({});
    const phone = await world.ada.open("phone");
    expect(await readErrorCode(revealShareLink(phone, shareId, null))).toBe("vault_locked");
    await expect(revealShareLink(phone, shareId, makePicture("market"))).resolves.toBe(link);
    await expect(revealShareLink(phone, shareId, null)).resolves.toBe(link);
  });

  it("changes expiry and views without an opener, and the expiry also in the sealed document", async () => {
    const { shareId } = await world.share({ maxViews: 1 });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await changeShare(world.adasVault, shareId, { expiresAt, maxViews: null });
    expect(world.requireStoredShare(shareId)).toMatchObject({ expiresAt, maxViews: null });
    await expect(listShares(world.adasVault)).resolves.toMatchObject([{ shareId, expiresAt }]);
    expect(await readErrorCode(changeShare(world.adasVault, shareId, { expiresAt: "2020-01-01T00:00:00.000Z" }))).toBe(
      "validation_error",
    );
  });

  it("revokes the link while the vault is locked or refuses a state, and learns why it is not marked", async () => {
    const accountBefore = world.ada.service.snapshot();
    const [{ shareId: first }, { shareId: second }] = [await world.share({}), await world.share({})];
    const phone = await world.ada.open("phone");
    expect(await readErrorCode(revokeShare(phone, first))).toBe("vault_locked");
    expect(world.requireStoredShare(first).revoked).toBe(true);
    world.ada.service.account = accountBefore;
    expect(await readErrorCode(revokeShare(world.adasVault, second))).toBe("older_state");
    expect(world.requireStoredShare(second).revoked).toBe(true);
  });

  it("updates the shared content after an edit, without the password", async () => {
    const { shareId, link } = await world.share({ password: "known to them" });
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    const openedBefore = await openShare(world.visit(link), shareId, { ...noCredentials, password: "known to them" });
    expect(decodeText(openedBefore.content)).toBe("content of First");
    await updateShareContent(world.adasVault, shareId, marketPicture);
    const openedAfter = await openShare(world.visit(link), shareId, { ...noCredentials, password: "known to them" });
    expect(decodeText(openedAfter.content)).toBe("new words");
    await expect(listShares(world.adasVault)).resolves.toMatchObject([{ shareId, version: 2 }]);
  });

  it("loses no link if every response to its creation is lost", async () => {
    const creation = world.share({});
    world.ada.service.transformResponse = (call, response) => {
      if (call === "POST /share") throw new PortalError("service_unavailable");
      return response;
    };
    const { shareId, link } = await creation; // the next reading finds it in the account
    world.ada.service.transformResponse = (_call, response) => response;
    await expect(revealShareLink(world.adasVault, shareId, null)).resolves.toBe(link);
  });

  it("keeps the link of a share that the service accepted but does not show", async () => {
    const accountBefore = world.ada.service.snapshot();
    const creation = world.share({});
    world.ada.service.transformResponse = (call, response) => {
      if (call === "POST /share") world.ada.service.account = accountBefore; // an account without the share
      return response;
    };
    const { shareId, link } = await creation;
    expect((await world.adasVault.device.read()).newShares).not.toBeNull();
    world.ada.service.transformResponse = (_call, response) => response;
    expect(await readErrorCode(revealShareLink(world.adasVault, shareId, null))).toBe("older_state");
    expect((await world.adasVault.device.read()).newShares).not.toBeNull();
    expect(link).not.toBeNull();
  });

  it("creates the share again, with one sketch, if another device writes in between", async () => {
    const desk = await world.ada.open("desk");
    await unlock(desk, makePicture("market"));
    let isPending = true;
    world.ada.service.beforeCall = async (call) => {
      if (call !== "POST /share" || !isPending) return;
      isPending = false;
      await update(desk, world.secretId, { baseVersion: 1, title: "Renamed" });
    };
    const { shareId, link } = await world.share({ picture: fakePicture("boat") });
    expect(isPending).toBe(false);
    await expect(
      openShare(world.visit(link), shareId, { ...noCredentials, picture: fakePicture("boat") }),
    ).resolves.toMatchObject({ title: "Renamed" });
    expect(world.ada.service.calls.filter((call) => call === "POST /share")).toHaveLength(2);
    expect((await world.adasVault.device.read()).newShares).toBeNull();
  });

  it("keeps the link of an unconfirmed share across a reload, until the account shows it was not published", async () => {
    world.ada.service.beforeCall = (call) => {
      if (call === "POST /share") throw new PortalError("offline");
    };
    expect(await readErrorCode(world.share({}))).toBe("offline");
    const readUnconfirmed = async (): Promise<unknown> => (await (await world.ada.openNamedDevice()).read()).newShares;
    expect(await readUnconfirmed()).not.toBeNull();
    world.ada.service.beforeCall = () => undefined;
    await listSharesOfSecret(world.adasVault, world.secretId);
    expect(await readUnconfirmed()).not.toBeNull(); // it may still arrive
    await update(world.adasVault, world.secretId, { baseVersion: 1, title: "Renamed" });
    await expect(listSharesOfSecret(world.adasVault, world.secretId)).resolves.toEqual([]);
    expect(await readUnconfirmed()).toBeNull();
  });

  it("removes the saved link once the account lists the share", async () => {
    await world.share({});
    expect((await world.adasVault.device.read()).newShares).toBeNull();
  });

  it("cannot share an earlier version or a secret in the trash", async () => {
    const desk = await world.ada.open("desk");
    await unlock(desk, makePicture("market"));
    let isEdited = false;
    world.ada.service.beforeCall = async (call) => {
      if (call !== "POST /share" || isEdited) return;
      isEdited = true;
      await update(desk, world.secretId, {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
      });
    };
    expect(await readErrorCode(world.share({}))).toBe("version_conflict");
    expect(world.sharing.shares.size).toBe(0);
    await moveToTrash(world.adasVault, world.secretId);
    expect(await readErrorCode(world.share({}))).toBe("not_found");
  });

  it.each([
    [{ expiresAt: "2020-01-01T00:00:00.000Z" }, "expires_at"],
    [{ expiresAt: new Date(Date.now() + 31 * 86_400_000).toISOString() }, "expires_at"],
    [{ maxViews: 0 }, "max_views"],
    [{ maxViews: 1_001 }, "max_views"],
  ])("gets the name of the invalid field: %j", async (request, field) => {
    await expect(world.share(request)).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: [field] },
    });
  });
});
