import "fake-indexeddb/auto";

import { fromB64u, toB64u } from "@relicario/shared/api";

import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { recover } from "./recover.ts";
import { rehearse } from "./rehearse.ts";
import { unlock } from "./unlock.ts";
import { update } from "./update.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });
const rehearsedAt = async (vault: Parameters<typeof list>[0]) =>
  (await list(vault)).map(({ label }) => label?.rehearsedAt);

async function worldWith(passphrase: string | null = null): Promise<{ world: World; secretId: string }> {
  const world = createWorld();
  const { secretId } = await protect(await world.open(), textSecret("First", shown("market", passphrase)), {});
  return { world, secretId };
}

describe("rehearse", () => {
  it("notes the date in the label, for every device, and gives out nothing but it", async () => {
    const { world, secretId } = await worldWith();
    const phone = await world.open("phone");
    const proved = await rehearse(phone, secretId, shown("market"), {});
    expect(Object.keys(proved)).toEqual(["rehearsedAt"]);
    expect(await rehearsedAt(phone)).toEqual([proved.rehearsedAt]);
    const tablet = await world.open("tablet");
    (await unlock(tablet, shown("market"), {})).opener.forget();
    expect(await rehearsedAt(tablet)).toEqual([proved.rehearsedAt]);
    expect((await recover(tablet, secretId, shown("market"), {})).title).toBe("First");
  });

  it("makes no new version, and takes the place of the rehearsal before", async () => {
    const { world, secretId } = await worldWith();
    for (const at of ["2026-11-22T12:00:00.000Z", "2027-05-21T12:00:00.000Z"]) {
      const clock = jest.spyOn(Date, "now").mockReturnValue(Date.parse(at));
      expect(await rehearse(await world.open("phone"), secretId, shown("market"), {})).toEqual({ rehearsedAt: at });
      clock.mockRestore();
    }
    const phone = await world.open("tablet");
    (await unlock(phone, shown("market"), {})).opener.forget();
    expect(await list(phone)).toMatchObject([
      { version: 1, rev: 3, label: { rehearsedAt: "2027-05-21T12:00:00.000Z" } },
    ]);
  });

  it.each([
    ["another picture", "forest"],
    ["a cropped copy that does not open", "market/cropped"],
  ])("says kindly that %s is not it, and notes nothing", async (_what, picture) => {
    const { world, secretId } = await worldWith();
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    await expect(rehearse(phone, secretId, shown(picture), {})).rejects.toEqual(code("not_this_picture"));
    expect(await rehearsedAt(phone)).toEqual([null]);
  });

  it("takes the passphrase with the picture", async () => {
    const { world, secretId } = await worldWith("right");
    const phone = await world.open("phone");
    await expect(rehearse(phone, secretId, shown("market", "wrong"), {})).rejects.toEqual(
      code("not_this_picture_or_passphrase"),
    );
    await rehearse(phone, secretId, shown("market", "right"), {});
    expect(await rehearsedAt(phone)).not.toEqual([null]);
  });

  it("proves nothing by a picture that opens the account and not this secret", async () => {
    const { world, secretId } = await worldWith();
    const laptop = await world.open();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    await protect(laptop, textSecret("Second", shown("forest")), {});
    await expect(rehearse(laptop, secretId, shown("forest"), {})).rejects.toEqual(code("opener_needed"));
    expect(await rehearsedAt(laptop)).toEqual([null, null]);
  });

  it("proves nothing by a content that was changed, though ticket and label are whole", async () => {
    const { world, secretId } = await worldWith();
    const phone = await world.open("phone");
    world.service.answer = (call, answer) => {
      if (call !== "POST /secrets/store/get-secret") return answer;
      const { content, ...rest } = answer as { content: string };
      const bytes = fromB64u(content);
      bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
      return { ...rest, content: toB64u(bytes) };
    };
    await expect(rehearse(phone, secretId, shown("market"), {})).rejects.toEqual(code("decryption_failed"));
    expect(await rehearsedAt(phone)).toEqual([null]);
  });

  it("holds for the version that it opened alone", async () => {
    const { world, secretId } = await worldWith();
    const phone = await world.open("phone");
    const laptop = await world.open();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    let seen = false;
    world.service.before = async (call) => {
      if (call === "POST /secrets/store/get-secret") seen = true;
      else if (seen && call === "GET /user/keyring") {
        seen = false;
        const { content, contentKind, name, mime } = textSecret("First", undefined, "newer");
        await update(laptop, secretId, { baseVersion: 1, content: { content, contentKind, name, mime } }, {});
      }
    };
    await expect(rehearse(phone, secretId, shown("market"), {})).rejects.toEqual(code("version_conflict"));
  });
});
