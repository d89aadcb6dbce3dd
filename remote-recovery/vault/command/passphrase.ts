import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { Writable } from "node:stream";

import { PortalError } from "@relicario/shared/errors";

/**
 * Reads the passphrase from standard input, without one trailing line break, or from the terminal
 * without echo.
 *
 * @throws PortalError `cancelled`; `validation_error` if there is no terminal
 */
export async function askPassphrase(fromStdin: boolean): Promise<string> {
  if (fromStdin) return (await text(process.stdin)).replace(/\r?\n$/, "");
  if (!process.stdin.isTTY) throw new PortalError("validation_error", { details: { reason: "no_terminal" } });
  process.stderr.write("Passphrase: ");
  // receives the echo and discards it
  const mutedOutput = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: mutedOutput, terminal: true, historySize: 0 });
  const abortController = new AbortController();
  terminal.once("SIGINT", () => abortController.abort());
  terminal.once("close", () => abortController.abort());
  try {
    return await terminal.question("", { signal: abortController.signal });
  } catch (cause) {
    throw new PortalError("cancelled", { cause });
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
