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

import { detachedContentName, type Kit } from "../src/kit/kit-document.ts";
import { parseKitFile } from "../src/kit/kit-file.ts";
import {
  openDetachedContent,
  openEmbeddedContent,
  openKit,
  requiresPassphrase,
  type KitSecret,
} from "../src/kit/open-kit.ts";
import { toSingleLine } from "../src/kit/safe-name.ts";
import { askPassphrase } from "./passphrase.ts";
import { describeError } from "./error-messages.ts";
import { writeUniqueFile } from "./write-unique.ts";

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
export async function main(argv: readonly string[]): Promise<number> {
  const options = parseArguments(argv);
  if (typeof options === "string") {
    console.error(options);
    return 2;
  }
  try {
    return await openAndWrite(options);
  } catch (error) {
    console.error(describeError(error));
    return 1;
  }
}

interface CommandOptions {
  readonly kitFile: string;
  readonly picture: string;
  readonly outputFolder: string;
  readonly identity: boolean;
  readonly passphraseFromStdin: boolean;
}

/** What was asked for, or what is wrong with it. */
function parseArguments(argv: readonly string[]): CommandOptions | string {
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        identity: { type: "boolean" },
        "passphrase-stdin": { type: "boolean" },
        out: { type: "string" },
        help: { type: "boolean" },
      },
    });
    const [kitPath, picturePath, ...extraArguments] = positionals;
    if (kitPath === undefined || picturePath === undefined || extraArguments.length > 0 || values.help === true)
      return usage;
    return {
      kitFile: kitPath,
      picture: picturePath,
      outputFolder: values.out ?? ".",
      identity: values.identity === true,
      passphraseFromStdin: values["passphrase-stdin"] === true,
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : ""}\n\n${usage}`;
  }
}

async function openAndWrite(options: CommandOptions): Promise<number> {
  const kit = await readKit(options.kitFile);
  const picture = await openPicture(options.picture);
  const passphrase = requiresPassphrase(kit) ? await askPassphrase(options.passphraseFromStdin) : null;
  const engine = await loadEngineInNode();
  const { identity, secrets } = await openKit(engine, kit, { picture, passphrase });
  if (options.identity) {
    console.log(identity);
    return 0;
  }
  let failedCount = 0;
  for (const [index, secret] of secrets.entries()) {
    const name =
      secret === null || secret.ticket.title === ""
        ? `Secret ${String(index + 1)}`
        : `“${toSingleLine(secret.ticket.title)}”`;
    try {
      if (secret === null) throw new PortalError("decryption_failed");
      const path = await writeUniqueFile(
        options.outputFolder,
        secret.ticket.name,
        readContent(secret, options.kitFile),
      );
      console.log(`${name}: ${path}`);
      if (secret.author === "not_verified")
        console.error(`${name} does not carry the signature of the account that the kit was made for.`);
    } catch (error) {
      failedCount++;
      console.error(
        `${name}: ${describeError(error, secret === null ? null : detachedContentName(secret.ticket.secret_id))}`,
      );
    }
  }
  return failedCount === 0 ? 0 : 1;
}

/** @throws PortalError `validation_error` (a reason in its details). */
async function readKit(path: string): Promise<Kit> {
  await requireFile(path, maxKitBytes);
  return parseKitFile(await readFile(path));
}

async function openPicture(path: string): Promise<Blob> {
  await requireFile(path, maxPictureBytes);
  return openAsBlob(path);
}

/** Refuses what is too large before it is read. */
async function requireFile(path: string, maxBytes: number): Promise<void> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new PortalError("not_found", { cause, details: { path } });
  });
  if (size > maxBytes) throw new PortalError("validation_error", { details: { reason: "too_large", path } });
}

async function* readContent(secret: KitSecret, kitPath: string): AsyncGenerator<Uint8Array> {
  if (secret.sealed !== null) {
    yield await openEmbeddedContent(secret);
    return;
  }
  const path = join(dirname(kitPath), detachedContentName(secret.ticket.secret_id));
  const file = await openAsBlob(path).catch((cause: unknown) => {
    throw new PortalError("not_found", { cause, details: { path } });
  });
  try {
    yield* openDetachedContent(secret, file);
  } catch (error) {
    throw toPortalError(error);
  }
}
