import { readFile } from "node:fs/promises";
import path from "node:path";

import type { RunningPortal } from "@relicario/tooling/portal";

import { ByteSearch, type Finding, type Needle } from "./byte-search.ts";
import { dumpDatabase } from "./database.ts";

/** Shorter texts stand among random bytes by chance. */
const minTextLength = 12;

/**
 * What people typed and what only their links carried: nothing of it may be kept by the service.
 */
export class PlantedTexts {
  readonly #needles = new Map<string, Needle>();

  /**
   * A title, note, password, file name or content. Of one with a sentinel, the sentinel is searched
   * for.
   */
  addText(value: string): string {
    const distinctivePart = /[A-Za-z0-9]{16}/.exec(value)?.[0] ?? value;
    if (distinctivePart.length < minTextLength) throw new Error(`"${value}" is too short to be searched for`);
    this.#add(`“${value}”`, Buffer.from(distinctivePart, "utf8"));
    this.#add(`“${value}” in UTF-16`, Buffer.from(distinctivePart, "utf16le"));
    return value;
  }

  /**
   * The key in the fragment of a link, as text and as the bytes that it stands for. A link without
   * a fragment has none.
   */
  addLink(addLink: string): string {
    const [, key] = addLink.split("#s=");
    if (key === undefined) return addLink;
    this.addText(key);
    this.#add("bytes of a link's key", Buffer.from(key, "base64url"));
    return addLink;
  }

  /** For what was planted so far: raw, and inside base64, base64url and hex. */
  get search(): ByteSearch {
    if (this.#needles.size === 0) throw new Error("nothing was planted");
    return new ByteSearch([...this.#needles.values()]);
  }

  /**
   * Where it stands in the rows of the databases, or in any file of the data folder: logs, objects,
   * mail and the database's own. With it what shows that the search reads what is there: how often
   * it finds the demo account, which the databases know in the clear, and the access log.
   */
  async searchPortal(
    portal: RunningPortal,
    dataFolder: string,
  ): Promise<{
    readonly findings: readonly Finding[];
    readonly files: number;
    readonly demoAccountHits: number;
    readonly accessLog: string;
  }> {
    const { search } = this;
    const rows = await dumpDatabase(portal);
    const { findings, files } = await search.searchFolder(dataFolder);
    const accessLog = await readFile(path.join(dataFolder, "logs", "service.log"), "utf8");
    const demoAccountHits = new ByteSearch([
      { name: "known", kind: "text", bytes: Buffer.from(portal.demo.email) },
    ]).search(rows, "rows of the databases").length;
    return {
      findings: [...search.search(rows, "rows of the database"), ...findings],
      files,
      demoAccountHits,
      accessLog,
    };
  }

  #add(name: string, bytes: Uint8Array): void {
    this.#needles.set(Buffer.from(bytes).toString("hex"), { name, kind: "text", bytes });
  }
}
