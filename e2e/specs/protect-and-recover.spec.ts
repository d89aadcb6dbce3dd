import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import { expectHome, newAccount, signInByHand, signOut, signUpByHand } from "../pages/account.ts";
import {
  answerDeviceQuestion,
  answerMarkQuestion,
  downloadFile,
  drawFrame,
  openList,
  openRecovery,
  protect,
  protectFile,
  revealSecret,
  row,
  saveAsAgeFile,
  showPicture,
} from "../pages/secrets.ts";
import { pictureField } from "../pages/picture-field.ts";
import { openWithTypage, decodeIdentity } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { dumpDatabase } from "../support/database.ts";
import { badPictures } from "../support/bad-pictures.ts";
import { pictureCopies, lumaRows, placeOnSheet, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { openRecordedProfile } from "../support/recorded-profile.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { createSentinel } from "../support/sentinel.ts";

test("protect-and-recover: a phrase is recovered with copies of its picture, and no one else learns anything", async ({
  portal,
  dataFolder,
}) => {
  const account = newAccount();
  const phrase = `legal winner ${createSentinel()} thank year`;
  const title = `Wallet ${createSentinel()}`;
  const tags = [createSentinel(), createSentinel()];
  const scan = {
    title: `Scan ${createSentinel()}`,
    name: "scan.pdf",
    content: Buffer.concat([Buffer.from(`${createSentinel()} `), randomBytes(50_000)]),
  };
  const secondSecret = {
    text: `second ${createSentinel()}`,
    title: `Second ${createSentinel()}`,
    passphrase: `four words and ${createSentinel()}`,
  };

  const proxy = await RecordingProxy.start();
  const foreignOrigins = new Set<string>();
  const firstProfile = await openRecordedProfile(proxy, portal.origin, foreignOrigins);
  const page = firstProfile.context.pages()[0] ?? (await firstProfile.context.newPage());

  await test.step("a person signs up and protects a seed phrase with a photograph", async () => {
    await signUpByHand(page, account);
    await expectHome(page);
    await protect(page, { text: phrase, title, tags, image: { file: photographs.mountains, passphrase: null } });
    await answerDeviceQuestion(page, "My own device");
    await openList(page);
    await expect(row(page, title)).toContainText(tags[0] ?? "");
  });

  for (const [name, makeCopy] of Object.entries(pictureCopies)) {
    await test.step(`a copy opens it: ${name}`, async () => {
      await openRecovery(page, title);
      await showPicture(page, await makeCopy(photographs.mountains));
      expect(await revealSecret(page)).toBe(phrase);
    });
  }

  await test.step("another photograph is refused, and the right one opens it next", async () => {
    await openRecovery(page, title);
    await showPicture(page, photographs.sunset);
    await expect(page.getByRole("alert")).toContainText("This picture does not open it", { timeout: 90_000 });
    await showPicture(page, photographs.mountains);
    expect(await revealSecret(page)).toBe(phrase);
  });

  await test.step("a file that cannot be read says what to do", async () => {
    await openRecovery(page, title);
    await showPicture(page, badPictures.gif);
    await expect(page.getByRole("alert")).toContainText(
      "This GIF file can't be read here. Save the picture as JPEG or PNG, and choose that copy.",
    );
    await showPicture(page, badPictures.broken);
    await expect(page.getByRole("alert")).toContainText("This picture is damaged or incomplete.");
  });

  await test.step("half of the file opens the secret, when its first scans hold the whole picture", async () => {
    await openRecovery(page, title);
    await showPicture(page, badPictures.cut);
    expect(await revealSecret(page)).toBe(phrase);
  });

  await test.step("a scan of the picture on a sheet opens the secret once the frame is drawn", async () => {
    await openRecovery(page, title);
    await showPicture(page, await placeOnSheet(photographs.mountains));
    await expect(page.getByRole("alert")).toContainText("This picture does not open it", { timeout: 90_000 });
    await drawFrame(page, { left: 0.125, top: 300 / 1450, right: 0.75, bottom: 1050 / 1450 });
    await pictureField(page).getByRole("button", { name: "Search in the frame" }).click();
    expect(await revealSecret(page)).toBe(phrase);
  });

  let contentIdentity = "";
  await test.step("the age file opens without the portal", async () => {
    const { sealed, identity, size } = await saveAsAgeFile(page);
    contentIdentity = identity;
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
        text: secondSecret.text,
        title: secondSecret.title,
        tags: [],
        image: { file: photographs.friends, passphrase: secondSecret.passphrase },
      },
      photographs.mountains,
    );
    await openRecovery(page, secondSecret.title);
    await showPicture(page, photographs.friends, `${secondSecret.passphrase}x`);
    await expect(page.getByRole("alert")).toContainText("Wrong picture or wrong passphrase", {
      timeout: 90_000,
    });
    await showPicture(page, await pictureCopies["half the size"](photographs.friends), secondSecret.passphrase);
    expect(await revealSecret(page)).toBe(secondSecret.text);
  });

  await test.step("signing out leads back to the sign-in page", async () => {
    await signOut(page);
    await firstProfile.close();
  });

  await test.step("in another browser profile the list is locked until the same picture is shown", async () => {
    const profile = await openRecordedProfile(proxy, portal.origin, foreignOrigins);
    const otherPage = profile.context.pages()[0] ?? (await profile.context.newPage());
    await signInByHand(otherPage, account);
    await openList(otherPage);
    await expect(otherPage.getByText("This device is locked")).toBeVisible();
    await expect(otherPage.getByText(title)).toBeHidden();
    await otherPage.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPicture(otherPage, await pictureCopies["JPEG quality 60"](photographs.mountains));
    await answerMarkQuestion(otherPage, "No, it is not mine");
    await expect(otherPage.getByText(/keeps nothing of the account that was found/)).toBeVisible();
    await showPicture(otherPage, await pictureCopies["JPEG quality 60"](photographs.mountains));
    await answerDeviceQuestion(otherPage, "A shared device");
    await expect(row(otherPage, title)).toBeVisible();
    await expect(row(otherPage, secondSecret.title)).toBeVisible();
    // no reload: a shared computer keeps its keys only in memory
    await row(otherPage, title).getByRole("link", { name: title }).click();
    await showPicture(otherPage, await pictureCopies["JPEG quality 60"](photographs.mountains));
    expect(await revealSecret(otherPage)).toBe(phrase);
    await signOut(otherPage);
    await profile.close();
  });

  await test.step("the service kept and the browsers sent nothing of it", async () => {
    const needles: Needle[] = [
      phrase,
      title,
      ...tags,
      scan.title,
      secondSecret.text,
      secondSecret.title,
      secondSecret.passphrase,
    ].map((text, index) => ({
      name: `typed text ${String(index)}`,
      kind: "text",
      bytes: Buffer.from(/[A-Za-z0-9]{16}/.exec(text)?.[0] ?? text),
    }));
    const [identityLine = ""] = /^AGE-SECRET-KEY-PQ-1\w+$/m.exec(contentIdentity) ?? [];
    const seed = decodeIdentity(contentIdentity);
    expect([identityLine.length > 60, seed.length]).toEqual([true, 32]);
    needles.push({ name: "identity of the content", kind: "text", bytes: Buffer.from(identityLine) });
    needles.push({ name: "seed of the content's identity", kind: "text", bytes: seed });
    needles.push({ name: "content of the file", kind: "text", bytes: scan.content.subarray(0, 16) });
    for (const [name, file] of Object.entries({ mountains: photographs.mountains, friends: photographs.friends })) {
      needles.push({ name: `file of ${name}`, kind: "runs", bytes: await readFile(file) });
      needles.push({ name: `luma of ${name}`, kind: "runs", bytes: await lumaRows(file) });
    }
    const search = new ByteSearch(needles);

    const databaseRows = await dumpDatabase(portal);
    const stoppedProcesses = ["service", "identity", "database"] as const;
    // writes all of the write-ahead log to disk
    for (const name of stoppedProcesses) await portal.processes.stop(name);
    expect(databaseRows.length).toBeGreaterThan(1_000);
    expect(search.search(databaseRows, "rows of the database")).toEqual([]);

    const folderResult = await search.searchFolder(dataFolder);
    for (const name of stoppedProcesses.toReversed()) await portal.processes.start(name);
    expect(folderResult.files).toBeGreaterThan(100);
    expect(folderResult.findings).toEqual([]);

    expect(proxy.requestCount).toBeGreaterThan(50);
    expect(search.search(proxy.readSent(), "requests")).toEqual([]);
    expect([...foreignOrigins]).toEqual([]);

    // Planted needles, text and picture, are found, so the search above can fail.
    proxy.plant(Buffer.from(JSON.stringify({ title: Buffer.from(`.${title}`).toString("base64url") })));
    proxy.plant(
      Buffer.from(
        JSON.stringify({ key: seed.toString("hex"), identity: Buffer.from(identityLine).toString("base64") }),
      ),
    );
    const luma = await lumaRows(photographs.friends);
    proxy.plant(Buffer.from(` ${Buffer.from(luma.subarray(1_000_001, 1_000_101)).toString("base64")} `));
    const plantedNames = [
      "typed text 1",
      "identity of the content",
      "seed of the content's identity",
      "luma of friends",
    ];
    expect(search.search(proxy.readSent(), "requests").map(({ needle }) => needle)).toEqual(
      expect.arrayContaining(plantedNames),
    );
  });
  await proxy.stop();
});
