import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { trash } from "../operations/favorite-and-trash.ts";
import { protect } from "../operations/protect.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { marketPicture, errorCodeOf, createSharingWorld, textOf, type SharingWorld } from "../testing/sharing-world.ts";
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
  it("opens for whoever has it, once for each view", async () => {
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
    const opened = await openShare(visitor, shareId, noCredentials);
    expect(opened).toMatchObject({
      title: "First",
      contentKind: "text",
      name: "secret.txt",
      sender: { userName: "Ada", trust: "says", safetyWords: [] },
    });
    expect(textOf(opened.content)).toBe("content of First");
    await openShare(visitor, shareId, noCredentials);
    expect(await errorCodeOf(openShare(visitor, shareId, noCredentials))).toBe("share_unavailable");
  });

  it("costs one view when answers are lost on the way", async () => {
    const { shareId, link } = await world.share({ maxViews: 1 });
    const visitor = world.visit(link);
    let lost = 0;
    visitor.service.transformAnswer = (call, answer) => {
      const isClaim =
        call === "POST /share/get-public-secret" && typeof answer === "object" && answer !== null && "ticket" in answer;
      if ((isClaim || call === "POST /share/content") && lost++ < 2) throw new PortalError("service_unavailable");
      return answer;
    };
    if ((await errorCodeOf(openShare(visitor, shareId, noCredentials))) !== "none")
      await openShare(visitor, shareId, noCredentials);
    expect(lost).toBeGreaterThanOrEqual(2);
    expect(world.stored(shareId).claims.size).toBe(1);
  });

  it("is incomplete without its key, or with that of another link", async () => {
    const [{ shareId }, { link: otherLink }] = [await world.share({}), await world.share({})];
    expect(await errorCodeOf(inspectShare(world.visit(null), shareId))).toBe("link_incomplete");
    expect(await errorCodeOf(openShare(world.visit(null), shareId, noCredentials))).toBe("link_incomplete");
    expect(await errorCodeOf(openShare(world.visit(otherLink), shareId, noCredentials))).toBe("link_incomplete");
    expect(await errorCodeOf(openShare(world.visit(`/shared/${shareId}#s=short`), shareId, noCredentials))).toBe(
      "link_incomplete",
    );
  });

  it("says of every other reason that it is unavailable", async () => {
    const { shareId, link } = await world.share({});
    await revokeShare(world.adasVault, shareId);
    expect(await errorCodeOf(inspectShare(world.visit(link), shareId))).toBe("share_unavailable");
    expect(await errorCodeOf(inspectShare(world.visit(link), "../user/me"))).toBe("share_unavailable");
  });
});

describe("a link with a password", () => {
  it("opens with the password as typed, in any composition, and counts a wrong one", async () => {
    const { shareId, link } = await world.share({ password: "café número 1" });
    const visitor = world.visit(link);
    await expect(inspectShare(visitor, shareId)).resolves.toMatchObject({ hasPassword: true });
    expect(await errorCodeOf(openShare(visitor, shareId, noCredentials))).toBe("validation_error");
    await expect(openShare(visitor, shareId, { ...noCredentials, password: "cafe" })).rejects.toMatchObject({
      code: "wrong_password",
      details: { tries_left: 9 },
    });
    expect(world.stored(shareId).claims.size).toBe(0);
    const opened = await openShare(visitor, shareId, { ...noCredentials, password: "cafe\u0301 nu\u0301mero 1" });
    expect(textOf(opened.content)).toBe("content of First");
  });

  it("never sends the password, nor what guesses it without the link", async () => {
    const { link, shareId } = await world.share({ password: "four words made here" });
    const visitor = world.visit(link);
    await openShare(visitor, shareId, { ...noCredentials, password: "four words made here" });
    const sent = JSON.stringify([world.ada.service.bodies, visitor.service.bodies]);
    expect(sent).not.toContain("four words");
    expect(sent).not.toContain(link?.split("#s=")[1]);
  });
});

describe("a link that also asks for a picture", () => {
  it("opens with that picture alone; another one costs no view", async () => {
    const { shareId, link } = await world.share({ picture: fakePicture("boat") });
    const visitor = world.visit(link);
    await expect(inspectShare(visitor, shareId)).resolves.toMatchObject({ hasPicture: true });
    expect(await errorCodeOf(openShare(visitor, shareId, noCredentials))).toBe("picture_needed");
    expect(await errorCodeOf(openShare(visitor, shareId, { ...noCredentials, picture: fakePicture("market") }))).toBe(
      "not_this_picture",
    );
    expect(world.stored(shareId).claims.size).toBe(0);
    const opened = await openShare(visitor, shareId, { ...noCredentials, picture: fakePicture("boat/small") });
    expect(textOf(opened.content)).toBe("content of First");
  });

  it("refuses a picture that opens the account, and copies of one", async () => {
    for (const picture of ["market", "market/small", "market/cropped"])
      expect(await errorCodeOf(world.share({ picture: fakePicture(picture) }))).toBe("picture_is_opener");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("refuses a picture whose copies at the edge of the promise fail: a share has no passphrase, and nobody is told", async () => {
    expect(await errorCodeOf(world.share({ picture: fakePicture("pale-sand") }))).toBe("picture_too_plain");
    expect(world.sharing.shares.size).toBe(0);
  });

  it("takes the same sketch for another share with the same picture, and a new root", async () => {
    const [first, second] = [
      await world.share({ picture: fakePicture("boat") }),
      await world.share({ picture: fakePicture("boat") }),
    ];
    const [firstHelper, secondHelper] = [first, second].map(
      ({ shareId }) => world.stored(shareId).createBody.share_helper ?? "",
    );
    expect(firstHelper).not.toBe(secondHelper);
    const sketchOf = (helper: string | undefined): string =>
      Buffer.from(helper ?? "", "base64url")
        .subarray(52, 394)
        .toString("hex");
    expect(sketchOf(firstHelper)).toBe(sketchOf(secondHelper));
  });

  it("never becomes an opener", async () => {
    await world.share({ picture: fakePicture("boat") });
    expect(await errorCodeOf(protect(world.adasVault, textSecret("Second", makePicture("boat")), {}))).toBe(
      "picture_resembles_another",
    );
  });
});

describe("a link for signed-in people", () => {
  it("opens behind sign-in, with the key of the link", async () => {
    const { shareId, link } = await world.share({ to: { audience: "signed_in" } });
    expect(link).toMatch(/^\/p-shared\//);
    expect(await errorCodeOf(openShare(world.visit(link), shareId, noCredentials))).toBe("unauthorized");
    expect(textOf((await openShare(world.visit(link, world.ben), shareId, noCredentials)).content)).toBe(
      "content of First",
    );
  });
});

describe("the owner of a link", () => {
  it("sees it again with an opener, on another device too", async () => {
    const { shareId, link } = await world.share({});
    const phone = await world.ada.open("phone");
    expect(await errorCodeOf(revealShareLink(phone, shareId, null))).toBe("vault_locked");
    await expect(revealShareLink(phone, shareId, makePicture("market"))).resolves.toBe(link);
    await expect(revealShareLink(phone, shareId, null)).resolves.toBe(link);
  });

  it("changes expiry and views without an opener, and the sealed document says so", async () => {
    const { shareId } = await world.share({ maxViews: 1 });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await changeShare(world.adasVault, shareId, { expiresAt, maxViews: null });
    expect(world.stored(shareId)).toMatchObject({ expiresAt, maxViews: null });
    await expect(listShares(world.adasVault)).resolves.toMatchObject([{ shareId, expiresAt }]);
    expect(await errorCodeOf(changeShare(world.adasVault, shareId, { expiresAt: "2020-01-01T00:00:00.000Z" }))).toBe(
      "validation_error",
    );
  });

  it("revokes it at the service when the vault is locked or alarmed, and then says what keeps it from being marked", async () => {
    const before = world.ada.service.snapshot();
    const [{ shareId: first }, { shareId: second }] = [await world.share({}), await world.share({})];
    const phone = await world.ada.open("phone");
    expect(await errorCodeOf(revokeShare(phone, first))).toBe("vault_locked");
    expect(world.stored(first).revoked).toBe(true);
    world.ada.service.account = before;
    expect(await errorCodeOf(revokeShare(world.adasVault, second))).toBe("older_state");
    expect(world.stored(second).revoked).toBe(true);
  });

  it("updates what is shared after an edit, without the password", async () => {
    const { shareId, link } = await world.share({ password: "known to them" });
    await update(world.adasVault, world.secretId, {
      baseVersion: 1,
      content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["new words"]) },
    });
    const before = await openShare(world.visit(link), shareId, { ...noCredentials, password: "known to them" });
    expect(textOf(before.content)).toBe("content of First");
    await updateShareContent(world.adasVault, shareId, marketPicture);
    const after = await openShare(world.visit(link), shareId, { ...noCredentials, password: "known to them" });
    expect(textOf(after.content)).toBe("new words");
    await expect(listShares(world.adasVault)).resolves.toMatchObject([{ shareId, version: 2 }]);
  });

  it("loses no link when every answer to its making is lost", async () => {
    const creating = world.share({});
    world.ada.service.transformAnswer = (call, answer) => {
      if (call === "POST /share") throw new PortalError("service_unavailable");
      return answer;
    };
    const { shareId, link } = await creating; // it stands in the account, as the next reading shows
    world.ada.service.transformAnswer = (_call, answer) => answer;
    await expect(revealShareLink(world.adasVault, shareId, null)).resolves.toBe(link);
  });

  it("keeps the link of a share that the service took and shows in no account", async () => {
    const before = world.ada.service.snapshot();
    const creating = world.share({});
    world.ada.service.transformAnswer = (call, answer) => {
      if (call === "POST /share") world.ada.service.account = before; // an account without it
      return answer;
    };
    const { shareId, link } = await creating;
    expect((await world.adasVault.device.read()).newShares).not.toBeNull();
    world.ada.service.transformAnswer = (_call, answer) => answer;
    expect(await errorCodeOf(revealShareLink(world.adasVault, shareId, null))).toBe("older_state");
    expect((await world.adasVault.device.read()).newShares).not.toBeNull();
    expect(link).not.toBeNull();
  });

  it("makes it anew, with one sketch, when another device writes in between", async () => {
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

  it("keeps the link of a share that perhaps was made, across a reload, until the account says that it was not", async () => {
    world.ada.service.beforeCall = (call) => {
      if (call === "POST /share") throw new PortalError("offline");
    };
    expect(await errorCodeOf(world.share({}))).toBe("offline");
    const readKept = async (): Promise<unknown> => (await (await world.ada.openNamedDevice()).read()).newShares;
    expect(await readKept()).not.toBeNull();
    world.ada.service.beforeCall = () => undefined;
    await listSharesOfSecret(world.adasVault, world.secretId);
    expect(await readKept()).not.toBeNull(); // it may still arrive
    await update(world.adasVault, world.secretId, { baseVersion: 1, title: "Renamed" });
    await expect(listSharesOfSecret(world.adasVault, world.secretId)).resolves.toEqual([]);
    expect(await readKept()).toBeNull();
  });

  it("forgets what it kept of a link once the account carries it", async () => {
    await world.share({});
    expect((await world.adasVault.device.read()).newShares).toBeNull();
  });

  it("cannot share another version than the present one, nor what is in the trash", async () => {
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
    expect(await errorCodeOf(world.share({}))).toBe("version_conflict");
    expect(world.sharing.shares.size).toBe(0);
    await trash(world.adasVault, world.secretId);
    expect(await errorCodeOf(world.share({}))).toBe("not_found");
  });

  it.each([
    [{ expiresAt: "2020-01-01T00:00:00.000Z" }, "expires_at"],
    [{ expiresAt: new Date(Date.now() + 31 * 86_400_000).toISOString() }, "expires_at"],
    [{ maxViews: 0 }, "max_views"],
    [{ maxViews: 1_001 }, "max_views"],
  ])("is told which field is wrong: %j", async (request, field) => {
    await expect(world.share(request)).rejects.toMatchObject({
      code: "validation_error",
      details: { fields: [field] },
    });
  });
});
