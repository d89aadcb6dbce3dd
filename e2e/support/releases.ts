import { execFile } from "node:child_process";
import { createHash, createPrivateKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import type { RunningPortal } from "@relicario/tooling/portal";
import { z } from "zod";

const root = path.join(import.meta.dirname, "../..");
const run = promisify(execFile);

const Key = z.looseObject({ kid: z.string(), kty: z.string(), crv: z.string(), x: z.string(), d: z.string() });
type Key = z.infer<typeof Key>;

const Document = z.looseObject({
  vendor_id: z.string(),
  origin: z.string(),
  environment: z.string(),
  sequence: z.number(),
  issued_at: z.string(),
  not_after: z.string(),
  releases: z.record(z.string(), z.looseObject({ stable: z.string() })),
  release_records: z.record(z.string(), z.string()),
});
export type Document = z.infer<typeof Document>;

const ReleaseRecord = z.looseObject({
  release: z.string(),
  files: z.record(z.string(), z.string()),
  federation: z.looseObject({}),
  manifest: z.looseObject({ contract: z.string() }),
});
export type ReleaseRecord = z.infer<typeof ReleaseRecord>;

const keyOf = async (file: string): Promise<Key> => Key.parse(JSON.parse(await readFile(file, "utf8")));
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decoded = (part = ""): unknown => JSON.parse(Buffer.from(part, "base64url").toString());

function jws(
  payload: unknown,
  key: Key,
): { readonly protected: string; readonly payload: string; readonly signature: string } {
  const [head, body] = [encoded({ alg: "EdDSA", kid: key.kid }), encoded(payload)];
  const signature = sign(
    null,
    Buffer.from(`${head}.${body}`),
    createPrivateKey({ key: { kty: key.kty, crv: key.crv, x: key.x, d: key.d }, format: "jwk" }),
  ).toString("base64url");
  return { protected: head, payload: body, signature };
}

/** A key that no page names, under a name that it may know. */
export function strangersKey(kid: string = randomUUID()): Key {
  return Key.parse({ ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid });
}

/**
 * What stands in a portal's data folder of releases and documents, to look at and to tamper with.
 */
export function releasesOf(portal: RunningPortal, vendor = "relicario") {
  const documentFile = path.join(portal.dataDir, "deployments", `${vendor}.json`);
  const portalKey = () => keyOf(path.join(portal.dataDir, "keys/portal.json"));
  const teamKey = (remote: string) => keyOf(path.join(root, ".data/keys", `team-${remote}.json`));
  const document = async (): Promise<Document> =>
    Document.parse(
      decoded(z.object({ payload: z.string() }).parse(JSON.parse(await readFile(documentFile, "utf8"))).payload),
    );
  const folderOf = (release: string): string =>
    path.join(portal.dataDir, "releases", release.split("-")[0] ?? "", release);
  const recordOf = async (release: string): Promise<ReleaseRecord> =>
    ReleaseRecord.parse(decoded((await readFile(path.join(folderOf(release), "release.json"), "utf8")).split(".")[1]));
  const signRecord = async (remote: string, record: unknown, key?: Key): Promise<string> => {
    const made = jws(record, key ?? (await teamKey(remote)));
    return `${made.protected}.${made.payload}.${made.signature}`;
  };

  return {
    document,
    recordOf,
    folderOf,
    signRecord,
    portalKey,
    teamKey,
    stable: async (remote: string): Promise<string> => (await document()).releases[remote]?.stable ?? "",
    /**
     * Puts another document in the place of the signed one. Returns the way to put that one back.
     */
    replaceDocument: async (change: Partial<Document>, key?: Key): Promise<() => Promise<void>> => {
      const original = await readFile(documentFile, "utf8");
      const made = jws({ ...(await document()), ...change }, key ?? (await portalKey()));
      await writeFile(
        `${documentFile}.part`,
        JSON.stringify({
          payload: made.payload,
          signatures: [{ protected: made.protected, signature: made.signature }],
        }),
      );
      await rename(`${documentFile}.part`, documentFile);
      return () => writeFile(documentFile, original);
    },
    /**
     * Appends one byte to a file where it is served from, in none but its plain form. Returns the
     * way back.
     */
    tamper: async (release: string, file: string): Promise<() => Promise<void>> => {
      const target = path.join(folderOf(release), file);
      const forms = [target, `${target}.br`, `${target}.gz`];
      const kept = await Promise.all(forms.map((form) => readFile(form).catch(() => null)));
      const [plain] = kept;
      if (plain == null) throw new TypeError(`${release} has no ${file}`);
      for (const form of forms.slice(1)) await rm(form, { force: true });
      await writeFile(target, Buffer.concat([plain, Buffer.from(" ")]));
      return async () => {
        for (const [at, form] of forms.entries()) if (kept[at] != null) await writeFile(form, kept[at]);
      };
    },
    /** A further release of a remote, with another text, signed by its team, in the registry. */
    makeNext: async (remote: string, file: string, change: (text: string) => string): Promise<string> => {
      const former = await recordOf((await document()).releases[remote]?.stable ?? "");
      const part = path.join(portal.dataDir, "releases", remote, `.part-${randomUUID()}`);
      await mkdir(part);
      await cp(folderOf(former.release), part, { recursive: true });
      const text = change(await readFile(path.join(part, file), "utf8"));
      for (const form of [".br", ".gz"]) await rm(path.join(part, file + form), { force: true });
      await writeFile(path.join(part, file), text);
      const files = { ...former.files, [file]: `sha384-${createHash("sha384").update(text).digest("base64")}` };
      const release = former.release.replace(
        /[0-9a-f]{12}$/,
        createHash("sha256")
          .update(
            Object.entries(files)
              .map(([name, integrity]) => `${name} ${integrity}\n`)
              .join(""),
          )
          .digest("hex")
          .slice(0, 12),
      );
      await writeFile(path.join(part, "release.json"), await signRecord(remote, { ...former, release, files }));
      await rename(part, folderOf(release));
      return release;
    },
    filesBelow: async (release: string, folder: string): Promise<readonly string[]> =>
      (await readdir(path.join(folderOf(release), folder))).map((file) => path.join(folder, file)),
    /** `npm run portal -- <act>`; what it says, and whether it did it. */
    command: async (...args: readonly string[]): Promise<{ readonly ok: boolean; readonly said: string }> => {
      try {
        const { stdout } = await run(
          process.execPath,
          [
            "--disable-warning=ExperimentalWarning",
            path.join(root, "tooling/src/portal/main.ts"),
            ...args,
            "--by",
            "story",
          ],
          { env: { ...process.env, DATA_DIR: portal.dataDir } },
        );
        return { ok: true, said: stdout };
      } catch (error) {
        return { ok: false, said: z.object({ stderr: z.string() }).parse(error).stderr };
      }
    },
  };
}
