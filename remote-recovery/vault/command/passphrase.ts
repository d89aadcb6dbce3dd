import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { Writable } from "node:stream";

import { PortalError } from "@relicario/shared/errors";

/**
 * The passphrase, from standard input as it comes (without one line end behind it), or typed at the
 * terminal without an echo.
 *
 * @throws PortalError `cancelled`, and `validation_error` where nobody can be asked.
 */
export async function askPassphrase(fromStdin: boolean): Promise<string> {
  if (fromStdin) return (await text(process.stdin)).replace(/\r?\n$/, "");
  if (!process.stdin.isTTY) throw new PortalError("validation_error", { details: { reason: "no_terminal" } });
  process.stderr.write("Passphrase: ");
  // What is typed is written back here, and goes nowhere.
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
