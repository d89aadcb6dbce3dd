import { FinishAnswerBody, Id, RequestId, uploadExpiryHours } from "@relicario/shared/api";
import { deviceStorage } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { z } from "zod";

import { mapQuotaError } from "../device/quota-error.ts";
import { randomBytes, utf8, wipe, type Bytes } from "../seal/bytes.ts";
import { deriveLinkAesKey } from "../seal/link-keys.ts";
import { SealingState } from "../transfer/sealing-state.ts";

/*
 * What a browser keeps of an answer that was begun, until it is finished or a day old. Both halves
 * are wrapped under a key of the link: going on takes the link again. No account is needed, and
 * none is told apart: the record belongs to the request.
 */

/** What finishing needs. */
export const FinishingState = z.strictObject({
  /** Lets its parts in; the service's. */
  token: z.string(),
  /** Content identity. Secret. */
  identity: z.string(),
  name: z.string(),
  /**
   * The finishing call, from just before it leaves, and what its ticket says: it is made once, and
   * goes out again as it is.
   */
  last: z.strictObject({ call: FinishAnswerBody, name: z.string(), mime: z.string(), note: z.string() }).nullable(),
});
export type FinishingState = z.infer<typeof FinishingState>;

const bytesSchema = z.custom<Bytes>((value) => value instanceof Uint8Array);
const WrappedData = z.strictObject({ iv: bytesSchema, data: bytesSchema });
type WrappedData = z.infer<typeof WrappedData>;

export const AnswerRecord = z.strictObject({
  requestId: RequestId,
  answerId: Id,
  /** How often this record was written. */
  writes: z.int().min(0),
  /** When the part that last arrived left; milliseconds since 1970. */
  touchedAt: z.number(),
  /** Bytes of the sealed content that are known to be there. */
  sent: z.int().min(0),
  sealed: z.boolean(),
  sealing: WrappedData,
  finishing: WrappedData,
});
export type AnswerRecord = z.infer<typeof AnswerRecord>;

/** The answers that were begun in this browser: one of a request at most. */
export interface AnswerRecords {
  /** Null when there is none, or it is too old. */
  readonly get: (requestId: string) => Promise<AnswerRecord | null>;
  /** In the place of one that was begun before. */
  readonly put: (record: AnswerRecord) => Promise<void>;
  /**
   * As that of an account's uploads: `not_found`, `conflict`. On the disk when this is answered.
   */
  readonly replace: (record: AnswerRecord) => Promise<AnswerRecord>;
  readonly remove: (requestId: string) => Promise<void>;
  readonly close: () => void;
}

/**
 * Where IndexedDB cannot be used (some private modes) they are kept in memory: nothing goes on
 * after a reload, and nothing is lost.
 */
export async function openAnswerRecords(now: () => number): Promise<AnswerRecords> {
  const store = await openStore();
  for (const [requestId, record] of await store.list())
    if (!isUnexpired(record, now())) await store.update(requestId, () => null);
  return {
    get: async (requestId) => {
      const record = await store.get(requestId);
      return isUnexpired(record, now()) ? record : null;
    },
    put: (record) => store.update(record.requestId, () => record),
    replace: async (record) => {
      const next = { ...record, writes: record.writes + 1 };
      await store.update(record.requestId, (existing) => {
        if (existing?.writes !== record.writes || existing.answerId !== record.answerId)
          throw new PortalError(existing === null ? "not_found" : "conflict");
        return next;
      });
      return next;
    },
    remove: (requestId) => store.update(requestId, () => null),
    close: store.close,
  };
}

function isUnexpired(record: AnswerRecord | null, now: number): record is AnswerRecord {
  return record !== null && now <= record.touchedAt + uploadExpiryHours * 3_600_000;
}

/** Name of the Web Lock of whoever sends an answer. */
export function answerLockName(requestId: string): string {
  return `relicario-answer ${requestId}`;
}

type RecordHalf = "sealing" | "finishing";

/** Wraps and reads both halves, for whoever has the link. */
export interface AnswerCipher {
  readonly wrap: (half: RecordHalf, value: SealingState | FinishingState) => Promise<WrappedData>;
  /** `not_found` when it does not open: it is not of this link. */
  readonly readSealingState: (record: AnswerRecord) => Promise<SealingState>;
  readonly readFinishingState: (record: AnswerRecord) => Promise<FinishingState>;
}

export async function createAnswerCipher(linkKey: Bytes, requestId: string): Promise<AnswerCipher> {
  const key = await deriveLinkAesKey(linkKey, "relicario/v1/request-resume");
  const algorithmFor = (half: RecordHalf, iv: Bytes): AesGcmParams => ({
    name: "AES-GCM",
    iv,
    additionalData: utf8(`relicario/request/${half}\n${requestId}`),
  });

  async function unwrap<T>(half: RecordHalf, { iv, data }: WrappedData, schema: z.ZodType<T>): Promise<T> {
    let plain: Bytes;
    try {
      plain = new Uint8Array(await crypto.subtle.decrypt(algorithmFor(half, iv), key, data));
    } catch (cause) {
      throw new PortalError("not_found", { cause });
    }
    try {
      return schema.parse(JSON.parse(new TextDecoder().decode(plain)));
    } finally {
      wipe(plain);
    }
  }

  return {
    wrap: async (half, value) => {
      const plain = utf8(JSON.stringify(value));
      const iv = randomBytes(12);
      try {
        return { iv, data: new Uint8Array(await crypto.subtle.encrypt(algorithmFor(half, iv), key, plain)) };
      } finally {
        wipe(plain);
      }
    },
    readSealingState: (record) => unwrap("sealing", record.sealing, SealingState),
    readFinishingState: (record) => unwrap("finishing", record.finishing, FinishingState),
  };
}

interface AnswerStore {
  readonly list: () => Promise<readonly (readonly [requestId: string, AnswerRecord | null])[]>;
  readonly get: (requestId: string) => Promise<AnswerRecord | null>;
  /** In one transaction. Null removes it. */
  readonly update: (requestId: string, change: (existing: AnswerRecord | null) => AnswerRecord | null) => Promise<void>;
  readonly close: () => void;
}

interface Schema extends DBSchema {
  answers: { key: string; value: AnswerRecord };
}

async function openStore(): Promise<AnswerStore> {
  try {
    return databaseStore(
      await openDB<Schema>(deviceStorage.answers.database, 1, {
        upgrade: (database) => {
          database.createObjectStore("answers");
        },
        blocking: (_current, _blocked, event) => {
          if (event.target instanceof IDBDatabase) event.target.close();
        },
      }),
    );
  } catch {
    return memoryStore(); // a private mode: whoever answers there sends it in one go
  }
}

/** A record that does not parse was written by another release: it is as none. */
function parseRecord(value: unknown): AnswerRecord | null {
  return AnswerRecord.safeParse(value).data ?? null;
}

function databaseStore(database: IDBPDatabase<Schema>): AnswerStore {
  return {
    list: async () =>
      Promise.all(
        (await database.getAllKeys("answers")).map(
          async (id) => [id, parseRecord(await database.get("answers", id))] as const,
        ),
      ),
    get: async (requestId) => parseRecord(await database.get("answers", requestId)),
    update: (requestId, change) =>
      mapQuotaError(async () => {
        const transaction = database.transaction("answers", "readwrite", { durability: "strict" });
        const updated = change(parseRecord(await transaction.store.get(requestId)));
        await Promise.all([
          updated === null ? transaction.store.delete(requestId) : transaction.store.put(updated, requestId),
          transaction.done,
        ]);
      }),
    close: () => {
      database.close();
    },
  };
}

function memoryStore(): AnswerStore {
  const records = new Map<string, AnswerRecord>();
  return {
    list: () => Promise.resolve([...records]),
    get: (requestId) => Promise.resolve(records.get(requestId) ?? null),
    update: async (requestId, change) => {
      const updated = change(records.get(requestId) ?? null);
      if (updated === null) records.delete(requestId);
      else records.set(requestId, updated);
    },
    close: () => {
      records.clear();
    },
  };
}
