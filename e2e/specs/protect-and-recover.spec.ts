import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import { atHome, newAccount, signInByHand, signOut, signUpByHand } from "../pages/account.ts";
import {
  answerDevice,
  downloadFile,
  drawFrame,
  openList,
  openRecovery,
  protect,
  protectFile,
  revealed,
  row,
  saveAsAgeFile,
  showPicture,
} from "../pages/secrets.ts";
import { openWithTypage, seedOf } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { dumpDatabase } from "../support/database.ts";
import { badPictures } from "../support/bad-pictures.ts";
import { copies, lumaRows, onPage, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { newRecordedProfile } from "../support/recorded-profile.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { sentinel } from "../support/sentinel.ts";

test("protect-and-recover: a phrase comes back with copies of its picture, and nobody else learns anything", async ({
  portal,
  dataFolder,
}) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const phrase = `legal winner ${sentinel()} thank year`;
  const title = `Wallet ${sentinel()}`;
  const tags = [sentinel(), sentinel()];
  const scan = {
    title: `Scan ${sentinel()}`,
    name: "scan.pdf",
    content: Buffer.concat([Buffer.from(`${sentinel()} `), randomBytes(50_000)]),
  };
  const second = {
    text: `second ${sentinel()}`,
    title: `Second ${sentinel()}`,
    passphrase: `four words and ${sentinel()}`,
  };

  const proxy = await RecordingProxy.start();
  const strangers = new Set<string>();
  const first = await newRecordedProfile(proxy, portal.origin, strangers);
  const page = first.context.pages()[0] ?? (await first.context.newPage());

  await test.step("a person signs up and protects a seed phrase with a photograph", async () => {
    await signUpByHand(page, account);
    await atHome(page);
    await protect(page, { text: phrase, title, tags, image: { file: photographs.mountains, passphrase: null } });
    await answerDevice(page, "My own device");
    await openList(page);
    await expect(row(page, title)).toContainText(tags[0] ?? "");
  });

  for (const [name, copyOf] of Object.entries(copies)) {
    await test.step(`a copy opens it: ${name}`, async () => {
      await openRecovery(page, title);
      await showPicture(page, await copyOf(photographs.mountains));
      expect(await revealed(page)).toBe(phrase);
    });
  }

  await test.step("another photograph does not, and says so kindly; the next one may be the right one", async () => {
    await openRecovery(page, title);
    await showPicture(page, photographs.sunset);
    await expect(page.getByRole("alert")).toContainText("This picture does not open it", { timeout: 90_000 });
    await showPicture(page, photographs.mountains);
    expect(await revealed(page)).toBe(phrase);
  });

  await test.step("a file that cannot be read says what to do", async () => {
    await openRecovery(page, title);
    await showPicture(page, badPictures.gif);
    await expect(page.getByRole("alert")).toContainText(
      "This kind of GIF file cannot be read here. Save the picture as JPEG or PNG, and choose that copy.",
    );
    await showPicture(page, badPictures.cut);
    await expect(page.getByRole("alert")).toContainText("This picture is damaged or incomplete.");
  });

  await test.step("a scan of the picture on a sheet opens it once the frame is drawn", async () => {
    await openRecovery(page, title);
    await showPicture(page, await onPage(photographs.mountains));
    await expect(page.getByRole("alert")).toContainText("This picture does not open it", { timeout: 90_000 });
    await drawFrame(page, { left: 0.125, top: 300 / 1450, right: 0.75, bottom: 1050 / 1450 });
    await page.getByRole("button", { name: "Search in this frame" }).click();
    expect(await revealed(page)).toBe(phrase);
  });

  let identityOfContent = "";
  await test.step("the age file opens without the portal", async () => {
    const { sealed, identity, size } = await saveAsAgeFile(page);
    identityOfContent = identity;
    expect((await openWithTypage(sealed, identity)).subarray(0, size).toString("utf8")).toBe(phrase);
  });

  await test.step("a file is protected, and comes back byte for byte", async () => {
    await protectFile(page, scan);
    await openRecovery(page, scan.title);
    await showPicture(page, photographs.mountains);
    expect(await downloadFile(page)).toEqual({ name: scan.name, content: scan.content });
  });

  await test.step("a second picture with a passphrase protects another secret", async () => {
    await protect(
      page,
      {
        text: second.text,
        title: second.title,
        tags: [],
        image: { file: photographs.friends, passphrase: second.passphrase },
      },
      photographs.mountains,
    );
    await openRecovery(page, second.title);
    await showPicture(page, photographs.friends, `${second.passphrase}x`);
    await expect(page.getByRole("alert")).toContainText("Not this picture, or not this passphrase", {
      timeout: 90_000,
    });
    await showPicture(page, await copies["half the size"](photographs.friends), second.passphrase);
    expect(await revealed(page)).toBe(second.text);
  });

  await test.step("signing out leads back to the sign-in page", async () => {
    await signOut(page);
    await first.close();
  });

  await test.step("in another browser profile the list is locked until the same picture is shown", async () => {
    const profile = await newRecordedProfile(proxy, portal.origin, strangers);
    const other = profile.context.pages()[0] ?? (await profile.context.newPage());
    await signInByHand(other, account);
    await openList(other);
    await expect(other.getByText("This device is locked")).toBeVisible();
    await expect(other.getByText(title)).toBeHidden();
    await other.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPicture(other, await copies["JPEG quality 60"](photographs.mountains));
    await answerDevice(other, "A shared computer");
    await expect(row(other, title)).toBeVisible();
    await expect(row(other, second.title)).toBeVisible();
    // no reload: a shared computer keeps its keys in memory alone
    await row(other, title).getByRole("link", { name: title }).click();
    await showPicture(other, await copies["JPEG quality 60"](photographs.mountains));
    expect(await revealed(other)).toBe(phrase);
    await signOut(other);
    await profile.close();
  });

  await test.step("the service kept and the browsers sent nothing of it", async () => {
    const needles: Needle[] = [phrase, title, ...tags, scan.title, second.text, second.title, second.passphrase].map(
      (text, index) => ({
        name: `typed text ${String(index)}`,
        kind: "text",
        bytes: Buffer.from(/[A-Za-z0-9]{16}/.exec(text)?.[0] ?? text),
      }),
    );
    const [identityLine = ""] = /^AGE-SECRET-KEY-PQ-1\w+$/m.exec(identityOfContent) ?? [];
    const seed = seedOf(identityOfContent);
    expect([identityLine.length > 60, seed.length]).toEqual([true, 32]);
    needles.push({ name: "identity of the content", kind: "text", bytes: Buffer.from(identityLine) });
    needles.push({ name: "seed of the content's identity", kind: "text", bytes: seed });
    needles.push({ name: "content of the file", kind: "text", bytes: scan.content.subarray(0, 16) });
    for (const [name, file] of Object.entries({ mountains: photographs.mountains, friends: photographs.friends })) {
      needles.push({ name: `file of ${name}`, kind: "runs", bytes: await readFile(file) });
      needles.push({ name: `luma of ${name}`, kind: "runs", bytes: await lumaRows(file) });
    }
    const search = new ByteSearch(needles);

    const rows = await dumpDatabase(portal);
    const stopped = ["service", "identity", "database"] as const;
    for (const name of stopped) await portal.processes.stop(name); // all of the write-ahead log is on disk then
    expect(rows.length).toBeGreaterThan(1_000);
    expect(search.search(rows, "rows of the database")).toEqual([]);

    const kept = await search.searchFolder(dataFolder);
    for (const name of stopped.toReversed()) await portal.processes.start(name);
    expect(kept.files).toBeGreaterThan(100);
    expect(kept.findings).toEqual([]);

    expect(proxy.requests).toBeGreaterThan(50);
    expect(search.search(proxy.sent(), "requests")).toEqual([]);
    expect([...strangers]).toEqual([]);

    // Planted ones, text and picture, are found: the search above can fail.
    proxy.plant(Buffer.from(JSON.stringify({ title: Buffer.from(`.${title}`).toString("base64url") })));
    proxy.plant(
      Buffer.from(
        JSON.stringify({ key: seed.toString("hex"), identity: Buffer.from(identityLine).toString("base64") }),
      ),
    );
    const luma = await lumaRows(photographs.friends);
    proxy.plant(Buffer.from(` ${Buffer.from(luma.subarray(1_000_001, 1_000_101)).toString("base64")} `));
    const planted = ["typed text 1", "identity of the content", "seed of the content's identity", "luma of friends"];
    expect(search.search(proxy.sent(), "requests").map(({ needle }) => needle)).toEqual(
      expect.arrayContaining(planted),
    );
  });
  await proxy.stop();
});
