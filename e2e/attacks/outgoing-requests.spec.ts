/**
 * Attacker: reads all that the browser sends. Wants the picture or its keys, while the camera takes
 * it, a secret is protected with it, a kit is made, and the secret is recovered.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { expectHome, newAccount, signUpByHand } from "../pages/account.ts";
import { takePicture } from "../pages/camera-window.ts";
import { makeKit } from "../pages/kit.ts";
import { answerDeviceQuestion, openRecovery, revealSecret, showPicture } from "../pages/secrets.ts";
import { fillInField, pictureField, pressButton } from "../pages/picture-field.ts";
import { encodeIdentity, decodeIdentity } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { buildCameraArguments, writeCameraFilm } from "../support/camera.ts";
import { deriveKey, deriveUserKeys } from "../support/user-keys.ts";
import { lumaRows, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { openRecordedProfile } from "../support/recorded-profile.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { runRelicarioOpen } from "../support/relicario-open.ts";
import { createSentinel } from "../support/sentinel.ts";

test("an attacker reads every request: finds nothing of a picture from the camera, of its keys, or of a kit", async ({
  portal,
}) => {
  const inputs = {
    passphrase: `four words and ${createSentinel()}`,
    content: `legal winner ${createSentinel()} thank year`,
    title: `Wallet ${createSentinel()}`,
    "words on the kit": `drawer ${createSentinel()}`,
  };
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-camera-"));
  const pictureFile = path.join(folder, "taken.jpg");
  const proxy = await RecordingProxy.start();
  const foreignOrigins = new Set<string>();
  const profile = await openRecordedProfile(
    proxy,
    portal.origin,
    foreignOrigins,
    buildCameraArguments(await writeCameraFilm(photographs.mountains, folder)),
  );
  const page = profile.context.pages()[0] ?? (await profile.context.newPage());

  await test.step("a person takes a picture and protects a secret with it", async () => {
    await signUpByHand(page, newAccount());
    await expectHome(page);
    await page.getByRole("main").getByRole("link", { name: "Protect a secret" }).click();
    await page.getByRole("link", { name: "Start" }).click({ timeout: 60_000 });
    await takePicture(page);
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 90_000 });
    await fillInField(page, "Passphrase", inputs.passphrase);
    await fillInField(page, "Repeat the passphrase", inputs.passphrase);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      pictureField(page).getByRole("button", { name: "Save the picture" }).click(),
    ]);
    await download.saveAs(pictureFile);
    await pressButton(page, "Continue");
    await page.getByLabel("Your secret").fill(inputs.content);
    await page.getByLabel("Title").fill(inputs.title);
    await page.getByRole("checkbox", { name: /I have never protected anything in this account/ }).check();
    await pressButton(page, "Protect");
    await page.getByRole("link", { name: "I have saved copies of my picture" }).click({ timeout: 120_000 });
    await answerDeviceQuestion(page, "My own device");
  });

  await test.step("makes a kit, and recovers the secret", async () => {
    const kit = await makeKit(page, folder, pictureFile, inputs.passphrase, inputs["words on the kit"]);
    const result = await runRelicarioOpen([kit.file, pictureFile, "--passphrase-stdin"], {
      folder,
      input: inputs.passphrase,
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(await readFile(path.join(folder, "secret.txt"), "utf8")).toBe(inputs.content);
    await openRecovery(page, inputs.title);
    await showPicture(page, pictureFile, inputs.passphrase);
    expect(await revealSecret(page)).toBe(inputs.content);
  });

  const { imageSecret, imageRootKey, openerSeed, accountKey, sketch, secrets } = await deriveUserKeys(page, {
    file: pictureFile,
    passphrase: inputs.passphrase,
  });
  await profile.close();
  const textNeedle = (name: string, bytes: Uint8Array | string): Needle => ({
    name,
    kind: "text",
    bytes: Buffer.from(bytes),
  });
  const needles: Needle[] = [
    ...Object.entries({ imageSecret, imageRootKey, openerSeed, accountKey }).map(([name, bytes]) =>
      textNeedle(name, bytes),
    ),
    ...["identity", "sign", "inner", "label", "book", "shares", "requests", "state"].map((label) =>
      textNeedle(`${label} key`, deriveKey(accountKey, `relicario/v1/${label}`)),
    ),
    textNeedle("identity of the picture", encodeIdentity(openerSeed)),
    ...secrets.flatMap(({ contentIdentity }) => [
      textNeedle("identity of the content", contentIdentity),
      textNeedle("seed of the content's identity", decodeIdentity(contentIdentity)),
    ]),
    textNeedle("an age identity", "AGE-SECRET-KEY-"),
    ...Object.entries(inputs).map(([name, value]) => textNeedle(name, /[A-Za-z0-9]{16}/.exec(value)?.[0] ?? value)),
    { name: "sketch of the picture", kind: "runs", bytes: sketch },
    { name: "file of the picture", kind: "runs", bytes: await readFile(pictureFile) },
    { name: "luma of the picture", kind: "runs", bytes: await lumaRows(pictureFile) },
  ];
  expect([imageSecret.length, accountKey.length, secrets.length]).toEqual([32, 32, 1]);
  const search = new ByteSearch(needles);
  const findLeaks = (): string[] => search.search(proxy.readSent(), "requests").map(({ needle }) => needle);

  expect(proxy.requestCount).toBeGreaterThan(50);
  expect(findLeaks()).toEqual([]);
  expect([...foreignOrigins]).toEqual([]);

  await test.step("planted needles are found raw, in base64 and in hex, so the search can fail", async () => {
    for (const { name, bytes } of needles) {
      const middle = Math.floor(bytes.length / 2);
      const sample = Buffer.from(bytes.length > 4096 ? bytes.subarray(middle, middle + 1024) : bytes);
      for (const encoded of [sample, sample.toString("base64"), sample.toString("base64url"), sample.toString("hex")]) {
        expect(
          search
            .search(Buffer.concat([Buffer.from("POST /api "), Buffer.from(encoded), Buffer.from("\r\n")]), "planted")
            .map(({ needle }) => needle),
          name,
        ).toContain(name);
      }
    }
    proxy.plant(imageSecret);
    expect(findLeaks()).toEqual(["imageSecret"]);
  });
  await proxy.stop();
  await rm(folder, { recursive: true, force: true });
});
