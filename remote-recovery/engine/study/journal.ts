import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { z } from "zod";

const GateLine = z.object({
  verdict: z.enum(["green", "amber", "red"]),
  reasons: z.array(z.string()),
  redReasons: z.array(z.string()),
  width: z.number(),
  height: z.number(),
  measures: z.object({
    coverage: z.number(),
    spread: z.number(),
    median: z.number(),
    tenth: z.number(),
    estimate: z.number(),
  }),
});

const PhotoLine = z.object({
  kind: z.literal("photo"),
  key: z.string(),
  gate: GateLine,
  /**
   * Errors of each copy in the self-test; null for a copy that did not recover. Null for a picture
   * that the gate refused.
   */
  selfTest: z.array(z.number().nullable()).nullable(),
  /** `errors` is null if the copy did not recover or gave another secret. */
  tries: z.array(
    z.object({ change: z.string(), errors: z.number().nullable(), score: z.number(), outcome: z.string() }),
  ),
});
export type PhotoLine = z.infer<typeof PhotoLine>;

const SearchLine = z.object({
  kind: z.literal("search"),
  shown: z.string(),
  sought: z.string(),
  score: z.number(),
  nearest: z.number(),
  accepted: z.boolean(),
});
export type SearchLine = z.infer<typeof SearchLine>;

const Line = z.discriminatedUnion("kind", [PhotoLine, SearchLine]);

/**
 * Finished work, one JSON line per item, in a file next to the report. An interrupted study
 * continues from this file.
 */
export class Journal {
  readonly #file: string;
  readonly #photos = new Map<string, PhotoLine>();
  readonly #searches = new Map<string, SearchLine>();

  constructor(file: string) {
    this.#file = file;
    if (!existsSync(file)) return;
    for (const text of readFileSync(file, "utf8").split("\n")) {
      const line = parseLine(text);
      if (line !== null) this.#index(line);
    }
  }

  getPhoto(key: string): PhotoLine | undefined {
    return this.#photos.get(key);
  }

  getSearch(shown: string, sought: string): SearchLine | undefined {
    return this.#searches.get(`${shown} ${sought}`);
  }

  add(line: PhotoLine | SearchLine): void {
    this.#index(line);
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  /** Deletes the file; called when the report is written. */
  remove(): void {
    rmSync(this.#file, { force: true });
  }

  #index(line: PhotoLine | SearchLine): void {
    if (line.kind === "photo") this.#photos.set(line.key, line);
    else this.#searches.set(`${line.shown} ${line.sought}`, line);
  }
}

/** Key of a picture together with the current sources, because results depend on both. */
export function computePictureKey(file: Uint8Array, sources: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of [...sources, file]) hash.update(createHash("sha256").update(part).digest());
  return hash.digest("base64url").slice(0, 22);
}

/** Null for a line that an interruption cut; the study repeats its work. */
function parseLine(text: string): PhotoLine | SearchLine | null {
  try {
    return Line.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
