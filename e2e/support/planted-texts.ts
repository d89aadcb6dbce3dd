import { readFile } from "node:fs/promises";
import path from "node:path";

import type { RunningPortal } from "@relicario/tooling/portal";

import { ByteSearch, type Finding, type Needle } from "./byte-search.ts";
import { dumpDatabase } from "./database.ts";
import { recordTyped } from "./telemetry.ts";

/** Shorter texts occur among random bytes by chance. */
const minTextLength = 12;

/**
 * Texts that users typed, and keys that only their links carried: the service may store none of
 * them.
 */
export class PlantedTexts {
  readonly #needles = new Map<string, Needle>();

  /** A text with a sentinel is searched for by the sentinel. */
  addText(value: string): string {
    const distinctivePart = /[A-Za-z0-9]{16}/.exec(value)?.[0] ?? value;
    if (distinctivePart.length < minTextLength) throw new Error(`"${value}" is too short to be searched for`);
    recordTyped(value);
    this.#add(`“${value}”`, Buffer.from(distinctivePart, "utf8"));
    this.#add(`“${value}” in UTF-16`, Buffer.from(distinctivePart, "utf16le"));
    return value;
  }

  /** Adds the key in a link's fragment, if it has one, as text and as bytes. */
  addLink(link: string): string {
    const [, key] = link.split("#s=");
    if (key === undefined) return link;
    this.addText(key);
    this.#add("bytes of a link's key", Buffer.from(key, "base64url"));
    return link;
  }

  /** Search for everything planted so far: raw, and inside base64, base64url and hex. */
  get search(): ByteSearch {
    if (this.#needles.size === 0) throw new Error("nothing was planted");
    return new ByteSearch([...this.#needles.values()]);
  }

  /**
   * Searches the databases' rows and every file of the data folder. Also counts two things that it
   * must find, as proof that it works: the demo account, which the databases hold in clear, and the
   * access log.
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
    if (portal.demoAccount === null) throw new TypeError("the portal has another identity provider");
    const demoAccountHits = new ByteSearch([
      { name: "known", kind: "text", bytes: Buffer.from(portal.demoAccount.email) },
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
