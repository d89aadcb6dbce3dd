/**
 * What was done to releases and deployments: one JSON object a line, each with the SHA-256 of the
 * line before it, so that a line that was changed, taken out or put in between is noticed. Lines at
 * the end that are gone are noticed by the sequence of the signed documents (store.ts).
 */
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { ReleaseId, RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import { UserFacingError } from "../user-facing-error.ts";

const AuditEventFields = z.strictObject({
  action: z.enum(["release", "start", "promote", "canary", "rollback", "disable", "enable", "renew", "override"]),
  /** Who did it, as the command was told. */
  by: z.string().min(1).max(100),
  vendor: z.string().optional(),
  /** Of the document that was signed. */
  sequence: z.int().min(1).optional(),
  remote: RemoteName.optional(),
  release: ReleaseId.optional(),
  /** Stable release before a rollback or a promotion. */
  instead_of: ReleaseId.optional(),
  percent: z.int().min(0).max(100).optional(),
  /** Objections that somebody went past. */
  forced: z.array(z.string()).optional(),
  reason: z.string().max(500).optional(),
});
export type AuditEvent = z.infer<typeof AuditEventFields>;

const Entry = z.strictObject({
  v: z.literal(1),
  at: z.iso.datetime({ precision: 3 }),
  ...AuditEventFields.shape,
  former: z.string().regex(/^[0-9a-f]{64}$/),
});
export type AuditEntry = z.infer<typeof Entry>;

const genesisHash = "0".repeat(64);

/** @throws UserFacingError that names the first line that is not what it was */
export function readAuditLog(file: string): readonly AuditEntry[] {
  let previousHash = genesisHash;
  return readLines(file).map((line, index) => {
    const entry = parseEntry(line);
    if (entry?.former !== previousHash)
      throw new UserFacingError(
        `${file}: line ${String(index + 1)} is not what was written there, or the one before it is not. Nothing is signed until somebody has looked at it.`,
      );
    previousHash = hashLine(line);
    return entry;
  });
}

/** Adds one entry, after the whole log was read and found unchanged. */
export function appendToAuditLog(file: string, event: AuditEvent, now: Date): void {
  readAuditLog(file);
  const last = readLines(file).at(-1);
  mkdirSync(dirname(file), { recursive: true });
  const entry = Entry.parse({
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
    return Entry.parse(JSON.parse(line));
  } catch {
    return null; // the caller says which line
  }
}

function hashLine(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}
