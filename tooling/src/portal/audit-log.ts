/**
 * Log of operations on releases and deployments. Each line is a JSON object with the SHA-256 of the
 * line before, which reveals a changed, removed or inserted line. The sequence of signed documents
 * reveals missing lines at the end (store.ts).
 */
import { hash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { ReleaseId, RemoteName, VerificationKey } from "@relicario/shared/contract";
import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import { UserFacingError } from "../user-facing-error.ts";

const AuditEvent = z.strictObject({
  action: z.enum([
    "release",
    "import",
    "start",
    "promote",
    "canary",
    "rollback",
    "disable",
    "enable",
    "renew",
    "override",
    "trust",
    "distrust",
  ]),
  by: z.string().min(1).max(100),
  vendor: z.string().optional(),
  sequence: z.int().min(1).optional(),
  remote: RemoteName.optional(),
  release: ReleaseId.optional(),
  /** Of a team that signs elsewhere. */
  key: VerificationKey.optional(),
  /** Release that was replaced. */
  instead_of: ReleaseId.optional(),
  percent: z.int().min(0).max(100).optional(),
  /** Objections that `--force` overrode. */
  forced: z.array(z.string()).optional(),
  reason: z.string().max(500).optional(),
});
export type AuditEvent = z.infer<typeof AuditEvent>;

const AuditEntry = z.strictObject({
  v: z.literal(1),
  at: z.iso.datetime({ precision: 3 }),
  ...AuditEvent.shape,
  former: z.string().regex(/^[0-9a-f]{64}$/),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

const genesisHash = "0".repeat(64);

/** @throws UserFacingError that names the first changed line */
export function readAuditLog(file: string): readonly AuditEntry[] {
  let previousHash = genesisHash;
  return readLines(file).map((line, index) => {
    const entry = parseEntry(line);
    if (entry?.former !== previousHash)
      throw new UserFacingError(
        `${file}: line ${String(index + 1)}, or the one before it, was changed. Nothing is signed until this is resolved.`,
      );
    previousHash = hashLine(line);
    return entry;
  });
}

/** Verifies the whole log, then appends an entry. */
export function appendToAuditLog(file: string, event: AuditEvent, now: Date): void {
  readAuditLog(file);
  const last = readLines(file).at(-1);
  mkdirSync(dirname(file), { recursive: true });
  const entry = AuditEntry.parse({
    v: 1,
    at: now.toISOString(),
    ...event,
    former: last === undefined ? genesisHash : hashLine(last),
  });
  appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600, flush: true });
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").split("\n").slice(0, -1);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function parseEntry(line: string): AuditEntry | null {
  try {
    return AuditEntry.parse(JSON.parse(line));
  } catch {
    return null; // the caller reports the line
  }
}

function hashLine(line: string): string {
  return hash("sha256", line, "hex");
}
