import { and, asc, count, eq, gt, isNull } from "drizzle-orm";

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

/** @param part number, from 1 */
export function getPartSize(upload: PartLayout, part: number): number {
  return part < countParts(upload) ? upload.partSize : upload.size - (part - 1) * upload.partSize;
}

/** Null for an unknown, expired or another account's upload. */
export async function findUpload(
  db: Db | Tx,
  { accountId }: AccountScope,
  id: string,
  now: Date,
): Promise<UploadRow | null> {
  const [row] = await db
    .select()
    .from(uploads)
    .where(and(whereUpload(accountId, id), gt(uploads.expiresAt, now)));
  return row ?? null;
}

/** Parts of an upload or an answer, in order. */
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
  if (upload === undefined) throw new Error("the upload was not inserted");
  return upload;
}

export async function insertPart(tx: Tx, row: PartRow): Promise<void> {
  await tx.insert(uploadParts).values(row);
}

export async function extendUpload(tx: Tx, { accountId }: AccountScope, id: string, expiresAt: Date): Promise<void> {
  await tx.update(uploads).set({ expiresAt }).where(whereUpload(accountId, id));
}

/** Stores the digest of the content; it stays valid because parts never change. */
export async function saveContentDigest(
  db: Db,
  { accountId }: AccountScope,
  id: string,
  contentSha256: Buffer,
): Promise<void> {
  await db.update(uploads).set({ contentSha256 }).where(whereUpload(accountId, id));
}

export interface PublishedUpload {
  readonly version: number;
  readonly stateRev: number;
  readonly callSha256: Buffer;
  readonly expiresAt: Date;
}

/**
 * Marks an upload as published. Its parts are deleted, since the version refers to their objects;
 * the row stays, so that a repeated call gets its response.
 */
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
    .where(whereUpload(accountId, id));
}

/** Deletes an upload; objects are deleted after the commit. @returns their keys */
export async function deleteUpload(tx: Tx, accountId: string, id: string, now: Date): Promise<string[]> {
  await tx.delete(uploads).where(whereUpload(accountId, id));
  return discardParts(tx, accountId, id, now);
}

/**
 * Deletes parts of an upload or an answer; objects are deleted after the commit. @returns their
 * keys
 */
export async function discardParts(tx: Tx, accountId: string, id: string, now: Date): Promise<string[]> {
  const keys = await deleteParts(tx, accountId, id);
  await orphanObjects(tx, accountId, keys, now);
  return keys;
}

async function deleteParts(tx: Tx, accountId: string, id: string): Promise<string[]> {
  const deletedRows = await tx
    .delete(uploadParts)
    .where(and(eq(uploadParts.accountId, accountId), eq(uploadParts.uploadId, id)))
    .returning({ objectKey: uploadParts.objectKey });
  return deletedRows.map(({ objectKey }) => objectKey);
}

const whereUpload = (accountId: string, id: string) => and(eq(uploads.accountId, accountId), eq(uploads.id, id));
