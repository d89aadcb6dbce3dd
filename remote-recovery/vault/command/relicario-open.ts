/**
 * `relicario-open kit.html photo.jpg` opens a kit with its picture. Uses the portal's engine and
 * formats, but runs no code of the kit and needs no network. Writes the secrets, or prints the
 * identity that opens their tickets with `age`.
 */
import { openAsBlob } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

import { loadEngineInNode } from "@relicario/engine/node";
import { maxKitBytes } from "@relicario/shared/api";
import { PortalError, toPortalError } from "@relicario/shared/errors";

import { getDetachedContentName, type Kit } from "../src/kit/kit-document.ts";
import { parseKitFile } from "../src/kit/kit-file.ts";
import {
  openDetachedContent,
  openEmbeddedContent,
  openKit,
  requiresPassphrase,
  type OpenedKitSecret,
} from "../src/kit/open-kit.ts";
import { toSingleLine } from "../src/kit/single-line.ts";
import { askPassphrase } from "./passphrase.ts";
import { describeError } from "./error-messages.ts";
import { writeUniqueFile } from "./write-unique.ts";

const usage = `relicario-open <kit.html> <picture> [--out <folder>] [--passphrase-stdin] [--identity]

Opens a kit with its picture and writes its secrets into the folder: this one unless --out names another.
Nothing is overwritten. A passphrase is asked for when the kit takes one.

  --passphrase-stdin   reads it from standard input, without the last line end
  --identity           writes no secret, but prints the identity that opens the tickets with age`;

/** Limit of the picture's size; the engine accepts no picture that large. */
const maxPictureBytes = 512 * 1024 ** 2;

/**
 * @returns the exit code: 0 if everything was opened, 1 if something was not, 2 for invalid
 *   arguments
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
  readonly kitPath: string;
  readonly picturePath: string;
  readonly outputFolder: string;
  readonly printIdentity: boolean;
  readonly passphraseFromStdin: boolean;
}

/** Returns the options, or the text to print if the arguments are invalid. */
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
      kitPath,
      picturePath,
      outputFolder: values.out ?? ".",
      printIdentity: values.identity === true,
      passphraseFromStdin: values["passphrase-stdin"] === true,
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : ""}\n\n${usage}`;
  }
}

async function openAndWrite(options: CommandOptions): Promise<number> {
  const kit = await readKit(options.kitPath);
  const picture = await openPicture(options.picturePath);
  const passphrase = requiresPassphrase(kit) ? await askPassphrase(options.passphraseFromStdin) : null;
  const engine = await loadEngineInNode();
  const { identity, secrets } = await openKit(engine, kit, { picture, passphrase });
  if (options.printIdentity) {
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
        readContent(secret, options.kitPath),
      );
      console.log(`${name}: ${path}`);
      if (secret.signatureStatus === "not_verified")
        console.error(`${name} does not carry the signature of the account that the kit was made for.`);
    } catch (error) {
      failedCount++;
      console.error(
        `${name}: ${describeError(error, secret === null ? null : getDetachedContentName(secret.ticket.secret_id))}`,
      );
    }
  }
  return failedCount === 0 ? 0 : 1;
}

/** @throws PortalError `validation_error`, with `reason` in its details */
async function readKit(path: string): Promise<Kit> {
  await requireFile(path, maxKitBytes);
  return parseKitFile(await readFile(path));
}

async function openPicture(path: string): Promise<Blob> {
  await requireFile(path, maxPictureBytes);
  return openAsBlob(path);
}

/** Checks the size before reading. */
async function requireFile(path: string, maxBytes: number): Promise<void> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new PortalError("not_found", { cause, details: { path } });
  });
  if (size > maxBytes) throw new PortalError("validation_error", { details: { reason: "too_large", path } });
}

async function* readContent(secret: OpenedKitSecret, kitPath: string): AsyncGenerator<Uint8Array> {
  if (secret.sealedContent !== null) {
    yield await openEmbeddedContent(secret);
    return;
  }
  const path = join(dirname(kitPath), getDetachedContentName(secret.ticket.secret_id));
  const file = await openAsBlob(path).catch((cause: unknown) => {
    throw new PortalError("not_found", { cause, details: { path } });
  });
  try {
    yield* openDetachedContent(secret, file);
  } catch (error) {
    throw toPortalError(error);
  }
}
