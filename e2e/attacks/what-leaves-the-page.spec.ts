/**
 * Whoever reads all that the browser sends wants the picture, or what hangs on it: while the camera
 * takes one, while a secret is protected with it, while a kit is made, and while it is recovered.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { atHome, newAccount, signUpByHand } from "../pages/account.ts";
import { makeKit } from "../pages/kit.ts";
import { answerDevice, openRecovery, revealed, showPicture } from "../pages/secrets.ts";
import { identityOf, seedOf } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { cameraArguments, cameraFilm } from "../support/camera.ts";
import { derived, keysOfAPerson } from "../support/keys-of-a-person.ts";
import { lumaRows, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { newRecordedProfile } from "../support/recorded-profile.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { relicarioOpen } from "../support/relicario-open.ts";
import { sentinel } from "../support/sentinel.ts";

test("somebody reads every request: finds nothing of a picture from the camera, of its keys, or of a kit", async ({
  portal,
}) => {
  test.setTimeout(600_000);
  const typed = {
    passphrase: `four words and ${sentinel()}`,
    content: `legal winner ${sentinel()} thank year`,
    title: `Wallet ${sentinel()}`,
    "words on the kit": `drawer ${sentinel()}`,
  };
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-camera-"));
  const taken = path.join(folder, "taken.jpg");
  const proxy = await RecordingProxy.start();
  const strangers = new Set<string>();
  const profile = await newRecordedProfile(
    proxy,
    portal.origin,
    strangers,
    cameraArguments(await cameraFilm(photographs.mountains, folder)),
  );
  const page = profile.context.pages()[0] ?? (await profile.context.newPage());

  await test.step("a person takes a picture and protects a secret with it", async () => {
    await signUpByHand(page, newAccount());
    await atHome(page);
    await page.getByRole("main").getByRole("link", { name: "Protect a secret" }).click();
    await page.getByRole("link", { name: "Start" }).click({ timeout: 60_000 });
    await page.getByRole("tab", { name: "Take picture" }).click();
    await page.getByRole("button", { name: "Take the picture" }).click({ timeout: 60_000 });
    await expect(page.getByText("This picture is good")).toBeVisible({ timeout: 90_000 });
    await page.getByRole("textbox", { name: "Passphrase", exact: true }).fill(typed.passphrase);
    await page.getByRole("textbox", { name: "Passphrase again" }).fill(typed.passphrase);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the picture" }).click(),
    ]);
    await download.saveAs(taken);
    await page.getByRole("button", { name: "Save a seed phrase or secret" }).click();
    await page.getByLabel("Your secret").fill(typed.content);
    await page.getByLabel("Title").fill(typed.title);
    await page.getByRole("checkbox", { name: /I have not protected anything in this account before/ }).check();
    await page.getByRole("button", { name: "Protect", exact: true }).click();
    await page.getByRole("link", { name: "I have kept my picture" }).click({ timeout: 120_000 });
    await answerDevice(page, "My own device");
  });

  await test.step("makes a kit, and recovers the secret", async () => {
    const kit = await makeKit(page, folder, taken, typed.passphrase, typed["words on the kit"]);
    const ran = await relicarioOpen([kit.file, taken, "--passphrase-stdin"], { folder, input: typed.passphrase });
    expect(ran).toMatchObject({ code: 0, complained: "" });
    expect(await readFile(path.join(folder, "secret.txt"), "utf8")).toBe(typed.content);
    await openRecovery(page, typed.title);
    await showPicture(page, taken, typed.passphrase);
    expect(await revealed(page)).toBe(typed.content);
  });

  const { imageSecret, imageRoot, openerSeed, accountKey, sketch, secrets } = await keysOfAPerson(page, {
    file: taken,
    passphrase: typed.passphrase,
  });
  await profile.close();
  const text = (name: string, bytes: Uint8Array | string): Needle => ({
    name,
    kind: "text",
    bytes: Buffer.from(bytes),
  });
  const needles: Needle[] = [
    ...Object.entries({ imageSecret, imageRoot, openerSeed, accountKey }).map(([name, bytes]) => text(name, bytes)),
    ...["identity", "sign", "inner", "label", "book", "shares", "requests", "state"].map((label) =>
      text(`${label} key`, derived(accountKey, `relicario/v1/${label}`)),
    ),
    text("identity of the picture", identityOf(openerSeed)),
    ...secrets.flatMap(({ contentIdentity }) => [
      text("identity of the content", contentIdentity),
      text("seed of the content's identity", seedOf(contentIdentity)),
    ]),
    text("an age identity", "AGE-SECRET-KEY-"),
    ...Object.entries(typed).map(([name, value]) => text(name, /[A-Za-z0-9]{16}/.exec(value)?.[0] ?? value)),
    { name: "sketch of the picture", kind: "runs", bytes: sketch },
    { name: "file of the picture", kind: "runs", bytes: await readFile(taken) },
    { name: "luma of the picture", kind: "runs", bytes: await lumaRows(taken) },
  ];
  expect([imageSecret.length, accountKey.length, secrets.length]).toEqual([32, 32, 1]);
  const search = new ByteSearch(needles);
  const found = (): string[] => search.search(proxy.sent(), "requests").map(({ needle }) => needle);

  expect(proxy.requests).toBeGreaterThan(50);
  expect(found()).toEqual([]);
  expect([...strangers]).toEqual([]);

  await test.step("what is sent all the same is found, raw, in base64 and in hex: the search can fail", async () => {
    for (const { name, bytes } of needles) {
      const middle = Math.floor(bytes.length / 2);
      const part = Buffer.from(bytes.length > 4096 ? bytes.subarray(middle, middle + 1024) : bytes);
      for (const sent of [part, part.toString("base64"), part.toString("base64url"), part.toString("hex")]) {
        expect(
          search
            .search(Buffer.concat([Buffer.from("POST /api "), Buffer.from(sent), Buffer.from("\r\n")]), "planted")
            .map(({ needle }) => needle),
          name,
        ).toContain(name);
      }
    }
    proxy.plant(imageSecret);
    expect(found()).toEqual(["imageSecret"]);
  });
  await proxy.stop();
  await rm(folder, { recursive: true, force: true });
});
