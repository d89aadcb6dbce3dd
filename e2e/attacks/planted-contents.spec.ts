/**
 * Attacker: as in hostile-remote.spec.ts, while a person opens their own secret and, in another
 * profile, a shared link, shows and copies them. Searches the page's messages, fields, screen and
 * storage, and in Chromium the heap of a page into which the content was never typed.
 */
import { newAccount } from "../pages/account.ts";
import { ByteSearch } from "../support/byte-search.ts";
import { engines, type EngineName, type EnginePage } from "../support/engines/engine.ts";
import { startEngine } from "../support/engines/start-engine.ts";
import { photographs } from "../support/photographs.ts";
import { createSentinel } from "../support/sentinel.ts";
import { openHostileArea } from "./hostile/campaign.ts";
import { findTaken, type Needle } from "./hostile/hostile-remote.ts";
import { expect, test } from "./hostile/hostile-portal.ts";
import { plantInPageStorage, readPageStorage } from "./hostile/page-storage.ts";
import { Person, type Picture } from "./hostile/person.ts";

for (const name of Object.keys(engines) as EngineName[]) {
  test(`a hostile remote finds nothing of an opened content, in ${name}`, async ({ portal }) => {
    const picture: Picture = { file: photographs.small, passphrase: `four words and ${createSentinel()}` };
    const content = `legal winner ${createSentinel()}`;
    /** The page has it, so that each search must find it. */
    const title = `Wallet ${createSentinel()}`;
    const needles: readonly Needle[] = [
      { name: "content", text: content, hex: Buffer.from(content).toString("hex") },
      { name: "title", text: title },
    ];
    const search = new ByteSearch([{ name: "content", kind: "text", bytes: Buffer.from(content) }]);
    const searchStorage = async (page: EnginePage): Promise<readonly string[]> =>
      (await page.run(readPageStorage)).flatMap((item) =>
        search.search(Buffer.from(item, "base64"), "storage").map(({ needle }) => needle),
      );
    const find = async (page: EnginePage): Promise<readonly string[]> =>
      (await page.run(findTaken, needles)).map(({ name: needle, way }) => `${needle}, by ${way}`);
    const expectOnlyTitle = async (page: EnginePage): Promise<void> => {
      const finds = await find(page);
      expect(finds).toContain("title, by messages");
      expect(finds.filter((found) => found.startsWith("content"))).toEqual([]);
      expect(await searchStorage(page)).toEqual([]);
    };

    let link = "";
    const engine = await startEngine(name);
    try {
      const { page } = engine;
      const person = new Person(page, portal);
      await person.signUp(newAccount());
      await openHostileArea(person);
      await person.protectText(content, title, picture);
      expect(await find(page)).toContain("content, by inputs"); // typed into the page
      link = await person.shareByLink(title, picture);

      await openHostileArea(person); // another document, which has not seen it
      await person.showSecret(title, picture);
      await person.copyShown(content);
      await expectOnlyTitle(page);

      await person.openForEditing(title); // the one way left for plaintext into the page
      expect(await find(page)).toContain("content, by messages");
      await page.run(plantInPageStorage, content);
      expect(await searchStorage(page)).toEqual(["content", "content", "content"]);
    } finally {
      await engine.close();
    }

    const visitorEngine = await startEngine(name);
    try {
      const { page } = visitorEngine;
      const visitor = new Person(page, portal);
      await visitor.openLink(link);
      await visitor.copyShown(content);
      await expectOnlyTitle(page);
      if (visitorEngine.chromium !== null) {
        const heap = await visitorEngine.chromium.takeHeapSnapshot();
        expect(needles.filter(({ text = "" }) => heap.includes(text)).map((needle) => needle.name)).toEqual(["title"]);
      }
    } finally {
      await visitorEngine.close();
    }
  });
}
