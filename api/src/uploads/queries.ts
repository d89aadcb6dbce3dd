import { and, asc, count, eq, gt, isNull, lte, sql } from "drizzle-orm";

import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { uploadParts, uploads } from "../db/schema.ts";
import { orphanObjects } from "../objects/orphaned-objects.ts";

export type UploadRow = typeof uploads.$inferSelect;
export type PartRow = typeof uploadParts.$inferSelect;

type PartLayout = Pick<UploadRow, "size" | "partSize">;

export function countParts({ size, partSize }: PartLayout): number {
  return Math.ceil(size / partSize);
}

/** Bytes of the part with this number, from 1: the last one has the rest. */
export function getPartSize(upload: PartLayout, part: number): number {
  return part < countParts(upload) ? upload.partSize : upload.size - (part - 1) * upload.partSize;
}

/** Null for one that is not there, not the caller's, or over. */
export async function findUpload(
  db: Db | Tx,
  { accountId }: AccountScope,
  id: string,
  now: Date,
): Promise<UploadRow | null> {
  const [row] = await db
    .select()
    .from(uploads)
    .where(and(isUpload(accountId, id), gt(uploads.expiresAt, now)));
  return row ?? null;
}

/** In order; of an upload or an answer. */
export function readParts(db: Db | Tx, { accountId }: Pick<AccountScope, "accountId">, id: string): Promise<PartRow[]> {
  return db
    .select()
    .from(uploadParts)
    .where(and(eq(uploadParts.accountId, accountId), eq(uploadParts.uploadId, id)))
    .orderBy(asc(uploadParts.part));
}

export async function findPart(db: Db | Tx, accountId: string, id: string, part: number): Promise<PartRow | null> {
  const [row] = await db
    .select()
    .from(uploadParts)
    .where(and(eq(uploadParts.accountId, accountId), eq(uploadParts.uploadId, id), eq(uploadParts.part, part)));
  return row ?? null;
}

export async function countOpenUploads(tx: Tx, { accountId }: AccountScope): Promise<number> {
  const [total] = await tx
    .select({ rows: count() })
    .from(uploads)
    .where(and(eq(uploads.accountId, accountId), isNull(uploads.publishedVersion)));
  return total?.rows ?? 0;
}

export async function insertUpload(tx: Tx, row: typeof uploads.$inferInsert): Promise<UploadRow> {
  const [upload] = await tx.insert(uploads).values(row).returning();
  if (upload === undefined) throw new Error("an upload that was not kept");
  return upload;
}

export async function insertPart(tx: Tx, row: PartRow): Promise<void> {
  await tx.insert(uploadParts).values(row);
}

export async function extendUpload(tx: Tx, { accountId }: AccountScope, id: string, expiresAt: Date): Promise<void> {
  await tx.update(uploads).set({ expiresAt }).where(isUpload(accountId, id));
}

/** The digest of all parts together was found once; parts never change, so it holds. */
export async function saveContentDigest(
  db: Db,
  { accountId }: AccountScope,
  id: string,
  contentSha256: Buffer,
): Promise<void> {
  await db.update(uploads).set({ contentSha256 }).where(isUpload(accountId, id));
}

export interface PublishedUpload {
  readonly version: number;
  readonly stateRev: number;
  readonly callSha256: Buffer;
  readonly expiresAt: Date;
}

/** Its parts belong to the version now; the row stays for the answer to the same call once more. */
export async function markPublished(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  { version, stateRev, callSha256, expiresAt }: PublishedUpload,
): Promise<void> {
  await deleteParts(tx, accountId, id);
  await tx
    .update(uploads)
    .set({ publishedVersion: version, publishedStateRev: stateRev, publishedCallSha256: callSha256, expiresAt })
    .where(isUpload(accountId, id));
}

/** Removes the upload; its objects go after the commit. @returns their keys. */
export async function deleteUpload(tx: Tx, accountId: string, id: string, now: Date): Promise<string[]> {
  await tx.delete(uploads).where(isUpload(accountId, id));
  return discardParts(tx, accountId, id, now);
}

/**
 * The parts of an upload or an answer that goes; their objects go after the commit. @returns their
 * keys.
 */
export async function discardParts(tx: Tx, accountId: string, id: string, now: Date): Promise<string[]> {
  const keys = await deleteParts(tx, accountId, id);
  await orphanObjects(tx, accountId, keys, now);
  return keys;
}

/** Those whose time is over, of any account, in the order of their key. */
export function readExpiredUploads(db: Db, now: Date, last: UploadRow | null, pageSize: number): Promise<UploadRow[]> {
  const isAfterLast =
    last === null ? undefined : sql`(${uploads.accountId}, ${uploads.id}) > (${last.accountId}, ${last.id})`;
  return db
    .select()
    .from(uploads)
    .where(and(lte(uploads.expiresAt, now), isAfterLast))
    .orderBy(uploads.accountId, uploads.id)
    .limit(pageSize);
}

async function deleteParts(tx: Tx, accountId: string, id: string): Promise<string[]> {
  const deleted = await tx
    .delete(uploadParts)
    .where(and(eq(uploadParts.accountId, accountId), eq(uploadParts.uploadId, id)))
    .returning({ objectKey: uploadParts.objectKey });
  return deleted.map(({ objectKey }) => objectKey);
}

const isUpload = (accountId: string, id: string) => and(eq(uploads.accountId, accountId), eq(uploads.id, id));
