import "fake-indexeddb/auto";

import { fromBase64url, toBase64url } from "@relicario/shared/api";

import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { openSmallSecret } from "./open-secret.ts";
import { checkCopy } from "./check-copy.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "./update.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });
const readCopyCheckedDates = async (vault: Parameters<typeof list>[0]) =>
  (await list(vault)).map(({ label }) => label?.copyCheckedAt);

async function createWorldWithSecret(passphrase: string | null = null): Promise<{ world: World; secretId: string }> {
  const world = createWorld();
  const { secretId } = await protect(await world.open(), textSecret("First", makePicture("market", passphrase)), {});
  return { world, secretId };
}

describe("checkCopy", () => {
  it("writes the date into the label, and returns nothing else", async () => {
    const { world, secretId } = await createWorldWithSecret();
    const phone = await world.open("phone");
    const copyCheck = await checkCopy(phone, secretId, makePicture("market"), {});
    expect(Object.keys(copyCheck)).toEqual(["copyCheckedAt"]);
    expect(await readCopyCheckedDates(phone)).toEqual([copyCheck.copyCheckedAt]);
    const tablet = await world.open("tablet");
    (await unlock(tablet, makePicture("market"), {})).opener.wipe();
    expect(await readCopyCheckedDates(tablet)).toEqual([copyCheck.copyCheckedAt]);
    expect((await openSmallSecret(tablet, secretId, makePicture("market"), {})).title).toBe("First");
  });

  it("creates no new version, and replaces the earlier check", async () => {
    const { world, secretId } = await createWorldWithSecret();
    for (const at of ["2026-11-22T12:00:00.000Z", "2027-05-21T12:00:00.000Z"]) {
      const clock = jest.spyOn(Date, "now").mockReturnValue(Date.parse(at));
      expect(await checkCopy(await world.open("phone"), secretId, makePicture("market"), {})).toEqual({
        copyCheckedAt: at,
      });
      clock.mockRestore();
    }
    const phone = await world.open("tablet");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect(await list(phone)).toMatchObject([
      { version: 1, rev: 3, label: { copyCheckedAt: "2027-05-21T12:00:00.000Z" } },
    ]);
  });

  it.each([
    ["another picture", "forest"],
    ["a cropped copy that does not open", "market/cropped"],
  ])("refuses %s, and writes nothing", async (_case, picture) => {
    const { world, secretId } = await createWorldWithSecret();
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await expect(checkCopy(phone, secretId, makePicture(picture), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    expect(await readCopyCheckedDates(phone)).toEqual([null]);
  });

  it("needs the passphrase of the picture", async () => {
    const { world, secretId } = await createWorldWithSecret("correct horse");
    const phone = await world.open("phone");
    await expect(checkCopy(phone, secretId, makePicture("market", "wrong"), {})).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
    await checkCopy(phone, secretId, makePicture("market", "correct horse"), {});
    expect(await readCopyCheckedDates(phone)).not.toEqual([null]);
  });

  it("refuses a picture that opens the account but not this secret", async () => {
    const { world, secretId } = await createWorldWithSecret();
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await protect(laptop, textSecret("Second", makePicture("forest")), {});
    await expect(checkCopy(laptop, secretId, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("opener_needed"),
    );
    expect(await readCopyCheckedDates(laptop)).toEqual([null, null]);
  });

  it("refuses altered content even if ticket and label are intact", async () => {
    const { world, secretId } = await createWorldWithSecret();
    const phone = await world.open("phone");
    world.service.transformResponse = (call, response) => {
      if (call !== "POST /secrets/store/get-secret") return response;
      const { content, ...rest } = response as { content: string };
      const bytes = fromBase64url(content);
      bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
      return { ...rest, content: toBase64url(bytes) };
    };
    await expect(checkCopy(phone, secretId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("decryption_failed"),
    );
    expect(await readCopyCheckedDates(phone)).toEqual([null]);
  });

  it("applies only to the version that the check opened", async () => {
    const { world, secretId } = await createWorldWithSecret();
    const phone = await world.open("phone");
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    let contentFetched = false;
    world.service.beforeCall = async (call) => {
      if (call === "POST /secrets/store/get-secret") contentFetched = true;
      else if (contentFetched && call === "GET /user/keyring") {
        contentFetched = false;
        const { content, contentKind, name, mime } = textSecret("First", undefined, "newer");
        await update(laptop, secretId, { baseVersion: 1, content: { content, contentKind, name, mime } }, {});
      }
    };
    await expect(checkCopy(phone, secretId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("version_conflict"),
    );
  });
});
