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

const readKey = async (file: string): Promise<Key> => Key.parse(JSON.parse(await readFile(file, "utf8")));
const encodeBase64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decodeBase64url = (part = ""): unknown => JSON.parse(Buffer.from(part, "base64url").toString());

function signJws(
  payload: unknown,
  key: Key,
): { readonly protected: string; readonly payload: string; readonly signature: string } {
  const [header, encodedPayload] = [encodeBase64url({ alg: "EdDSA", kid: key.kid }), encodeBase64url(payload)];
  const signature = sign(
    null,
    Buffer.from(`${header}.${encodedPayload}`),
    createPrivateKey({ key: { kty: key.kty, crv: key.crv, x: key.x, d: key.d }, format: "jwk" }),
  ).toString("base64url");
  return { protected: header, payload: encodedPayload, signature };
}

/** A key that no page names, under a name that it may know. */
export function untrustedKey(kid: string = randomUUID()): Key {
  return Key.parse({ ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid });
}

/**
 * What stands in a portal's data folder of releases and documents, to look at and to tamper with.
 */
export function releasesOf(portal: RunningPortal, vendor = "relicario") {
  const documentFile = path.join(portal.dataDir, "deployments", `${vendor}.json`);
  const portalKey = () => readKey(path.join(portal.dataDir, "keys/portal.json"));
  const teamKey = (remote: string) => readKey(path.join(root, ".data/keys", `team-${remote}.json`));
  const document = async (): Promise<Document> =>
    Document.parse(
      decodeBase64url(
        z.object({ payload: z.string() }).parse(JSON.parse(await readFile(documentFile, "utf8"))).payload,
      ),
    );
  const folderOf = (release: string): string =>
    path.join(portal.dataDir, "releases", release.split("-")[0] ?? "", release);
  const recordOf = async (release: string): Promise<ReleaseRecord> =>
    ReleaseRecord.parse(
      decodeBase64url((await readFile(path.join(folderOf(release), "release.json"), "utf8")).split(".")[1]),
    );
  const signRecord = async (remote: string, record: unknown, key?: Key): Promise<string> => {
    const signed = signJws(record, key ?? (await teamKey(remote)));
    return `${signed.protected}.${signed.payload}.${signed.signature}`;
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
      const signed = signJws({ ...(await document()), ...change }, key ?? (await portalKey()));
      await writeFile(
        `${documentFile}.part`,
        JSON.stringify({
          payload: signed.payload,
          signatures: [{ protected: signed.protected, signature: signed.signature }],
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
      const originals = await Promise.all(forms.map((form) => readFile(form).catch(() => null)));
      const [plain] = originals;
      if (plain == null) throw new TypeError(`${release} has no ${file}`);
      for (const form of forms.slice(1)) await rm(form, { force: true });
      await writeFile(target, Buffer.concat([plain, Buffer.from(" ")]));
      return async () => {
        for (const [index, form] of forms.entries())
          if (originals[index] != null) await writeFile(form, originals[index]);
      };
    },
    /** A further release of a remote, with another text, signed by its team, in the registry. */
    createNextRelease: async (remote: string, file: string, change: (text: string) => string): Promise<string> => {
      const previous = await recordOf((await document()).releases[remote]?.stable ?? "");
      const stagingFolder = path.join(portal.dataDir, "releases", remote, `.part-${randomUUID()}`);
      await mkdir(stagingFolder);
      await cp(folderOf(previous.release), stagingFolder, { recursive: true });
      const text = change(await readFile(path.join(stagingFolder, file), "utf8"));
      for (const form of [".br", ".gz"]) await rm(path.join(stagingFolder, file + form), { force: true });
      await writeFile(path.join(stagingFolder, file), text);
      const files = { ...previous.files, [file]: `sha384-${createHash("sha384").update(text).digest("base64")}` };
      const release = previous.release.replace(
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
      await writeFile(
        path.join(stagingFolder, "release.json"),
        await signRecord(remote, { ...previous, release, files }),
      );
      await rename(stagingFolder, folderOf(release));
      return release;
    },
    listFiles: async (release: string, folder: string): Promise<readonly string[]> =>
      (await readdir(path.join(folderOf(release), folder))).map((file) => path.join(folder, file)),
    /** `npm run portal -- <act>`; what it says, and whether it did it. */
    runCommand: async (...args: readonly string[]): Promise<{ readonly ok: boolean; readonly output: string }> => {
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
        return { ok: true, output: stdout };
      } catch (error) {
        return { ok: false, output: z.object({ stderr: z.string() }).parse(error).stderr };
      }
    },
  };
}
