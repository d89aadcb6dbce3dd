/**
 * `relicario-open kit.html photo.jpg`: opens a kit with its picture, by the portal's own engine and
 * formats, with nothing of the kit's program and without a network. Writes the secrets, or prints
 * the identity that opens their tickets with the plain `age`.
 */
import { openAsBlob } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

import { loadEngineInNode } from "@relicario/engine/node";
import { maxKitBytes } from "@relicario/shared/api";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import {
  besideName,
  contentBeside,
  contentInside,
  oneLine,
  openKit,
  readKitFile,
  takesPassphrase,
  type Kit,
  type KitSecret,
} from "@relicario/vault/kit";

import { askPassphrase } from "./passphrase.ts";
import { sentenceOf } from "./sentences.ts";
import { writeFree } from "./write-free.ts";

const usage = `relicario-open <kit.html> <picture> [--out <folder>] [--passphrase-stdin] [--identity]

Opens a kit with its picture and writes its secrets into the folder: this one unless --out names another.
Nothing is overwritten. A passphrase is asked for when the kit takes one.

  --passphrase-stdin   reads it from standard input, without the last line end
  --identity           writes no secret, but prints the identity that opens the tickets with age`;

/** A picture of more bytes is not read: none that the engine takes is so large. */
const maxPictureBytes = 512 * 1024 ** 2;

/**
 * The command. Gives its exit code: 0 when everything was opened, 1 when something was not, 2 for a
 * call that makes no sense.
 */
export async function main(words: readonly string[]): Promise<number> {
  const call = callOf(words);
  if (typeof call === "string") {
    console.error(call);
    return 2;
  }
  try {
    return await open(call);
  } catch (error) {
    console.error(sentenceOf(error));
    return 1;
  }
}

interface Call {
  readonly kitFile: string;
  readonly picture: string;
  readonly out: string;
  readonly identity: boolean;
  readonly passphraseFromInput: boolean;
}

/** What was asked for, or what is wrong with it. */
function callOf(words: readonly string[]): Call | string {
  try {
    const { positionals, values } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        identity: { type: "boolean" },
        "passphrase-stdin": { type: "boolean" },
        out: { type: "string" },
        help: { type: "boolean" },
      },
    });
    const [kitFile, picture, ...more] = positionals;
    if (kitFile === undefined || picture === undefined || more.length > 0 || values.help === true) return usage;
    return {
      kitFile,
      picture,
      out: values.out ?? ".",
      identity: values.identity === true,
      passphraseFromInput: values["passphrase-stdin"] === true,
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : ""}\n\n${usage}`;
  }
}

async function open(call: Call): Promise<number> {
  const kit = await kitOf(call.kitFile);
  const picture = await pictureOf(call.picture);
  const passphrase = takesPassphrase(kit) ? await askPassphrase(call.passphraseFromInput) : null;
  const engine = await loadEngineInNode();
  const { identity, secrets } = await openKit(engine, kit, { picture, passphrase });
  if (call.identity) {
    console.log(identity);
    return 0;
  }
  let failed = 0;
  for (const [index, secret] of secrets.entries()) {
    const name =
      secret === null || secret.ticket.title === ""
        ? `Secret ${String(index + 1)}`
        : `“${oneLine(secret.ticket.title)}”`;
    try {
      if (secret === null) throw new PortalError("decryption_failed");
      const path = await writeFree(call.out, secret.ticket.name, contentOf(secret, call.kitFile));
      console.log(`${name}: ${path}`);
      if (secret.author === "not_verified")
        console.error(`${name} does not carry the signature of the account that the kit was made for.`);
    } catch (error) {
      failed++;
      console.error(`${name}: ${sentenceOf(error, secret === null ? null : besideName(secret.ticket.secret_id))}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

/** @throws PortalError `validation_error` (a reason in its details). */
async function kitOf(path: string): Promise<Kit> {
  await requireFile(path, maxKitBytes);
  return readKitFile(await readFile(path));
}

async function pictureOf(path: string): Promise<Blob> {
  await requireFile(path, maxPictureBytes);
  return openAsBlob(path);
}

/** Refuses what is too large before it is read. */
async function requireFile(path: string, most: number): Promise<void> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new PortalError("not_found", { cause, details: { path } });
  });
  if (size > most) throw new PortalError("validation_error", { details: { reason: "too_large", path } });
}

async function* contentOf(secret: KitSecret, kitFile: string): AsyncGenerator<Uint8Array> {
  if (secret.sealed !== null) {
    yield await contentInside(secret);
    return;
  }
  const path = join(dirname(kitFile), besideName(secret.ticket.secret_id));
  const file = await openAsBlob(path).catch((cause: unknown) => {
    throw new PortalError("not_found", { cause, details: { path } });
  });
  try {
    yield* contentBeside(secret, file);
  } catch (error) {
    throw toPortalError(error);
  }
}
