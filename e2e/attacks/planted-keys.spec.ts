/**
 * Attacker: as in hostile-remote.spec.ts, while a person protects, makes a recovery code, unlocks,
 * opens, shares and makes a kit. Searches the page's storage, messages and fields, the requests of
 * the browser, and in Chromium the page's heap, for keys, picture, passphrase and recovery code.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

import { newAccount } from "../pages/account.ts";
import { ByteSearch, type Needle as ByteNeedle } from "../support/byte-search.ts";
import { engines, type EngineName } from "../support/engines/engine.ts";
import { startEngine } from "../support/engines/start-engine.ts";
import { photographs } from "../support/photographs.ts";
import { RecordingProxy } from "../support/recording-proxy.ts";
import { createSentinel } from "../support/sentinel.ts";
import { deriveKey, deriveKeysOfAccount } from "../support/user-keys.ts";
import { getLoopbackOrigin, openHostileArea } from "./hostile/campaign.ts";
import { findTaken, readSessionToken, type Needle } from "./hostile/hostile-remote.ts";
import { expect, test } from "./hostile/hostile-portal.ts";
import { plantInPageStorage, readPageStorage } from "./hostile/page-storage.ts";
import { Person, type Picture } from "./hostile/person.ts";

for (const name of Object.keys(engines) as EngineName[]) {
  test(`a hostile remote finds no key, picture, passphrase or code of the vault, in ${name}`, async ({ portal }) => {
    const proxy = await RecordingProxy.start();
    const engine = await startEngine(name, { proxyOrigin: proxy.address });
    try {
      const { page } = engine;
      const person = new Person(page, portal);
      const picture: Picture = { file: photographs.small, passphrase: `four words and ${createSentinel()}` };
      /** The page has it, so that each search must find it. */
      const title = `Wallet ${createSentinel()}`;
      await person.signUp(newAccount());
      await openHostileArea(person);
      await person.protectText(`legal winner ${createSentinel()}`, title, picture);
      const code = await person.makeCode(picture);
      await person.lock();
      await person.unlockWithCode(code, title);
      await person.showSecret(title, picture);
      const link = await person.shareByLink(title, picture);
      await person.makeKit(picture);

      const keys = await deriveKeysOfAccount(
        { origin: getLoopbackOrigin(portal), token: await page.run(readSessionToken) },
        picture,
      );
      const pictureBytes = await readFile(picture.file);
      const bytes: Readonly<Record<string, Buffer>> = {
        "account key": keys.accountKey,
        "key of labels": deriveKey(keys.accountKey, "relicario/v1/label"),
        "image secret": keys.imageSecret,
        "image root key": keys.imageRootKey,
        "opener seed": keys.openerSeed,
      };
      const texts: Readonly<Record<string, string>> = { passphrase: picture.passphrase, "recovery code": code };
      const needles: readonly Needle[] = [
        ...Object.entries(bytes).map(([needle, value]) => ({ name: needle, hex: value.toString("hex") })),
        ...Object.entries({ ...texts, title }).map(([needle, text]) => ({ name: needle, text })),
        { name: "picture", digest: createHash("sha256").update(pictureBytes).digest("hex") },
      ];
      const finds = await page.run(findTaken, needles);
      expect(finds.map(({ name: needle, way }) => `${needle}, by ${way}`)).toContain("title, by messages");
      expect(finds.filter(({ name: needle }) => needle !== "title")).toEqual([]);

      if (engine.chromium !== null) {
        const heap = await engine.chromium.takeHeapSnapshot(); // strings alone: no bytes of buffers
        const keyTexts = Object.entries(bytes).flatMap(([needle, value]) =>
          (["base64url", "base64", "hex"] as const).map((encoding) => [needle, value.toString(encoding)] as const),
        );
        expect(
          [...keyTexts, ...Object.entries({ ...texts, title })].flatMap(([needle, text]) =>
            heap.includes(text) ? [needle] : [],
          ),
        ).toEqual(["title"]);
        const processes = await engine.chromium.listFrameProcesses();
        const listProcessesOf = (origin: string): readonly number[] =>
          processes.filter(({ url }) => URL.parse(url)?.origin === origin).map(({ processId }) => processId);
        const [pageProcess] = listProcessesOf(portal.origin);
        const vaultProcesses = listProcessesOf(portal.vaultOrigin);
        expect(pageProcess).toEqual(expect.any(Number));
        expect(vaultProcesses.length).toBeGreaterThan(0);
        expect(vaultProcesses).not.toContain(pageProcess);
      }

      const search = new ByteSearch([
        ...Object.entries(bytes).map(([needle, value]): ByteNeedle => ({ name: needle, kind: "text", bytes: value })),
        ...Object.entries({ ...texts, title }).map(([needle, text]): ByteNeedle => ({
          name: needle,
          kind: "text",
          bytes: Buffer.from(text),
        })),
        { name: "picture", kind: "runs", bytes: pictureBytes },
      ]);
      const searchStorage = async (): Promise<readonly string[]> => {
        const items = await page.run(readPageStorage);
        return items.flatMap((item) =>
          search.search(Buffer.from(item, "base64"), "storage").map(({ needle }) => needle),
        );
      };
      expect(await searchStorage()).toEqual([]);
      await person.openLink(link);
      expect(await searchStorage()).toEqual([]);
      await page.run(plantInPageStorage, title);
      expect(await searchStorage()).toEqual(["title", "title", "title"]);

      const findInRequests = (): readonly string[] => [
        ...new Set(search.search(proxy.readSent(), "requests").map(({ needle }) => needle)),
      ];
      expect(findInRequests()).toEqual([]);
      await page.run(async (text) => {
        await fetch(`/healthz?${new URLSearchParams({ text }).toString().replaceAll("+", "%20")}`);
        await fetch("/api/healthz", { method: "POST", body: text });
      }, title);
      expect(findInRequests()).toEqual(["title"]);
    } finally {
      await engine.close();
      await proxy.stop();
    }
  });
}
