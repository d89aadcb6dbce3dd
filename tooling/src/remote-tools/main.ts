/**
 * `relicario-remote key [file]` and `relicario-remote sign [folder] [--key <file>]`, of the packed
 * tools: a team signs its releases where it builds them. Guide: docs/remotes.md.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import { generateKey, importKeyPair, type SigningKeyPair } from "../keys/signing-keys.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { makeRelease } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { RemoteKit } from "./create-remote.ts";

const usage = `relicario-remote key [file]                       make a signing key, and beside it the public one for the portal's operator
relicario-remote sign [folder] [--key <file>]     sign what is built there as a release, with team-key.json by default`;
const defaultKeyFile = "team-key.json";

try {
  const { values, positionals } = parseArgs({ options: { key: { type: "string" } }, allowPositionals: true });
  const [command, subject, ...extraArguments] = positionals;
  if (extraArguments.length > 0) throw new UserFacingError(usage);
  if (command === "key") await createKey(resolve(subject ?? defaultKeyFile));
  else if (command === "sign") await sign(resolve(subject ?? "."), values.key);
  else throw new UserFacingError(usage);
} catch (error) {
  const isUserError = error instanceof UserFacingError || (error instanceof TypeError && "code" in error);
  console.error(isUserError ? error.message : error);
  process.exitCode = 1;
}

async function createKey(file: string): Promise<void> {
  const key = await generateKey();
  const { publicKey } = await importKeyPair(key);
  const publicFile = `${file.replace(/\.json$/, "")}.public.json`;
  try {
    writeFileSync(file, `${JSON.stringify(key, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (getErrorCode(error) === "EEXIST") throw new UserFacingError(`${file} is there already.`);
    throw error;
  }
  writeFileSync(publicFile, `${JSON.stringify(publicKey, null, 2)}\n`);
  console.log(
    `${relative(process.cwd(), file)} signs releases: keep it private.\n${relative(process.cwd(), publicFile)} is for the portal's operator.`,
  );
}

async function sign(folder: string, keyFile: string | undefined): Promise<void> {
  const keyPair = await readKeyPair(keyFile === undefined ? join(folder, defaultKeyFile) : resolve(keyFile));
  const manifestFile = join(folder, "manifest.json");
  if (!existsSync(manifestFile)) throw new UserFacingError(`${folder} is not the folder of a remote.`);
  const webFolder = join(folder, "build/web");
  if (!existsSync(webFolder)) throw new UserFacingError(`${folder} is not built: pnpm build there.`);
  const { name } = z.object({ name: RemoteName }).parse(JSON.parse(readFileSync(manifestFile, "utf8")));
  const { pnpm } = RemoteKit.parse(JSON.parse(readFileSync(join(import.meta.dirname, "../kit.json"), "utf8")));
  await writeBillOfMaterials(folder, pnpm);
  const release = await makeRelease({ remote: name, packageFolder: folder, webFolder, keyPair });
  console.log(relative(process.cwd(), release.folder));
}

async function readKeyPair(file: string): Promise<SigningKeyPair> {
  if (!existsSync(file)) throw new UserFacingError(`There is no key ${file}: relicario-remote key makes one.`);
  try {
    return await importKeyPair(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new UserFacingError(`${file} is not an Ed25519 key in JWK form.`);
  }
}
