import { execFile } from "node:child_process";
import { createHash, createPrivateKey, generateKeyPairSync, hash, randomUUID, sign } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import type { RunningPortal } from "@relicario/tooling/portal";
import { z } from "zod";

const root = path.join(import.meta.dirname, "../..");
const execFileAsync = promisify(execFile);

const SigningKey = z.looseObject({ kid: z.string(), kty: z.string(), crv: z.string(), x: z.string(), d: z.string() });
type SigningKey = z.infer<typeof SigningKey>;

const Deployment = z.looseObject({
  vendor_id: z.string(),
  origin: z.string(),
  environment: z.string(),
  sequence: z.number(),
  issued_at: z.string(),
  not_after: z.string(),
  releases: z.record(z.string(), z.looseObject({ stable: z.string() })),
  release_records: z.record(z.string(), z.string()),
});
export type Deployment = z.infer<typeof Deployment>;

const ReleaseRecord = z.looseObject({
  release: z.string(),
  files: z.record(z.string(), z.string()),
  federation: z.looseObject({}),
  manifest: z.looseObject({ contract: z.string() }),
});
export type ReleaseRecord = z.infer<typeof ReleaseRecord>;

const readKey = async (file: string): Promise<SigningKey> => SigningKey.parse(JSON.parse(await readFile(file, "utf8")));
const encodeJsonBase64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decodeJsonBase64url = (part = ""): unknown => JSON.parse(Buffer.from(part, "base64url").toString());

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

async function runNode(args: readonly string[], environment: Record<string, string>): Promise<Outcome> {
  try {
    const { stdout } = await execFileAsync(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
      env: { ...process.env, ...environment },
    });
    return { ok: true, output: stdout };
  } catch (error) {
    return { ok: false, output: z.object({ stderr: z.string() }).parse(error).stderr };
  }
}

function signJws(
  encodedPayload: string,
  key: SigningKey,
): { readonly protected: string; readonly payload: string; readonly signature: string } {
  const encodedHeader = encodeJsonBase64url({ alg: "EdDSA", kid: key.kid });
  const signature = sign(
    null,
    Buffer.from(`${encodedHeader}.${encodedPayload}`),
    createPrivateKey({ key: { kty: key.kty, crv: key.crv, x: key.x, d: key.d }, format: "jwk" }),
  ).toString("base64url");
  return { protected: encodedHeader, payload: encodedPayload, signature };
}

/** Creates a signing key that no trust anchor has. `kid` may be a trusted key's id. */
export function createUntrustedKey(kid: string = randomUUID()): SigningKey {
  return SigningKey.parse({ ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid });
}

/**
 * Creates functions that read, tamper with and sign again the releases and a vendor's deployment in
 * a portal's data folder.
 */
export function createReleaseTools(portal: Pick<RunningPortal, "dataDir">, vendor = "relicario") {
  const deploymentFile = path.join(portal.dataDir, "deployments", `${vendor}.json`);
  const readPortalKey = () => readKey(path.join(portal.dataDir, "keys/portal.json"));
  const readTeamKey = (remote: string) => readKey(path.join(root, ".data/keys", `team-${remote}.json`));
  const readDeployment = async (): Promise<Deployment> =>
    Deployment.parse(
      decodeJsonBase64url(
        z.object({ payload: z.string() }).parse(JSON.parse(await readFile(deploymentFile, "utf8"))).payload,
      ),
    );
  const folderOf = (release: string): string =>
    path.join(portal.dataDir, "releases", release.split("-")[0] ?? "", release);
  const readRecord = async (release: string): Promise<ReleaseRecord> =>
    ReleaseRecord.parse(
      decodeJsonBase64url((await readFile(path.join(folderOf(release), "release.json"), "utf8")).split(".")[1]),
    );
  const signRecord = async (remote: string, record: unknown, key?: SigningKey): Promise<string> => {
    const signed = signJws(encodeJsonBase64url(record), key ?? (await readTeamKey(remote)));
    return `${signed.protected}.${signed.payload}.${signed.signature}`;
  };

  /** @param change returns the new bytes, or null for none */
  const replaceServedFile = async (
    release: string,
    file: string,
    change: (bytes: Buffer) => Buffer | null,
  ): Promise<() => Promise<void>> => {
    const target = path.join(folderOf(release), file);
    const variantFiles = [target, `${target}.br`, `${target}.gz`];
    const originals = await Promise.all(variantFiles.map((variantFile) => readFile(variantFile).catch(() => null)));
    const [uncompressedBytes] = originals;
    if (uncompressedBytes == null) throw new TypeError(`${release} has no ${file}`);
    for (const variantFile of variantFiles) await rm(variantFile, { force: true });
    const bytes = change(uncompressedBytes);
    if (bytes !== null) await writeFile(target, bytes);
    return async () => {
      for (const [index, variantFile] of variantFiles.entries())
        if (originals[index] != null) await writeFile(variantFile, originals[index]);
    };
  };

  return {
    readDeployment,
    readRecord,
    folderOf,
    signRecord,
    readPortalKey,
    readTeamKey,
    findStableRelease: async (remote: string): Promise<string> =>
      (await readDeployment()).releases[remote]?.stable ?? "",
    /** Merges a change into the deployment and signs again; returns a function that undoes it. */
    patchDeployment: async (change: Partial<Deployment>, key?: SigningKey): Promise<() => Promise<void>> => {
      const original = await readFile(deploymentFile, "utf8");
      const payload = encodeJsonBase64url({ ...(await readDeployment()), ...change });
      const signed = signJws(hash("sha256", payload, "base64url"), key ?? (await readPortalKey()));
      await writeFile(
        `${deploymentFile}.part`,
        JSON.stringify({
          payload,
          signatures: [{ protected: signed.protected, signature: signed.signature }],
        }),
      );
      await rename(`${deploymentFile}.part`, deploymentFile);
      return () => writeFile(deploymentFile, original);
    },
    /**
     * Appends a byte to a served file, and removes its compressed variants; returns a function that
     * undoes it.
     */
    appendByte: (release: string, file: string) =>
      replaceServedFile(release, file, (bytes) => Buffer.concat([bytes, Buffer.from(" ")])),
    /** Removes a served file; returns a function that undoes it. */
    removeFile: (release: string, file: string) => replaceServedFile(release, file, () => null),
    /**
     * Adds a release to the portal's releases folder: the remote's stable one with one file edited,
     * signed with the team's key. Returns its name.
     */
    createChangedRelease: async (remote: string, file: string, editText: (text: string) => string): Promise<string> => {
      const stableRecord = await readRecord((await readDeployment()).releases[remote]?.stable ?? "");
      const stagingFolder = path.join(portal.dataDir, "releases", remote, `.part-${randomUUID()}`);
      await mkdir(stagingFolder);
      await cp(folderOf(stableRecord.release), stagingFolder, { recursive: true });
      const text = editText(await readFile(path.join(stagingFolder, file), "utf8"));
      for (const extension of [".br", ".gz"]) await rm(path.join(stagingFolder, file + extension), { force: true });
      await writeFile(path.join(stagingFolder, file), text);
      const files = { ...stableRecord.files, [file]: `sha384-${createHash("sha384").update(text).digest("base64")}` };
      const release = stableRecord.release.replace(
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
        await signRecord(remote, { ...stableRecord, release, files }),
      );
      await rename(stagingFolder, folderOf(release));
      return release;
    },
    listFiles: async (release: string, folder: string): Promise<readonly string[]> =>
      (await readdir(path.join(folderOf(release), folder))).map((file) => path.join(folder, file)),
    /** Runs `npm run portal -- <command>`; returns its output, and whether it succeeded. */
    runCommand: (...args: readonly string[]): Promise<Outcome> =>
      runNode([path.join(root, "tooling/src/portal/main.ts"), ...args, "--by", "story"], {
        DATA_DIR: portal.dataDir,
      }),
    /** Runs the host's tests with a release, as `npm test -- releases` does. */
    checkInHost: (release: string): Promise<Outcome> =>
      runNode(
        [
          "--experimental-vm-modules",
          path.join(root, "node_modules/jest/bin/jest.js"),
          ...["--config", path.join(root, "tooling/jest/released.cjs"), "--rootDir", root],
        ],
        { RELICARIO_RELEASE: folderOf(release) },
      ),
  };
}
