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
 * Data that a browser keeps of a started answer, until the answer is finished or a day old. Both
 * halves are wrapped under a key derived from the link, so resuming needs the link. There is one
 * record per request, and no account.
 */

export const FinishingState = z.strictObject({
  /** Token from the service that authorises the parts. */
  token: z.string(),
  /** Content identity. Secret. */
  identity: z.string(),
  name: z.string(),
  /**
   * The finishing call and the fields of its ticket. Saved just before the call is sent, because
   * the call is built once and repeated unchanged.
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
  writes: z.int().min(0),
  /** Time when the last part that arrived was sent; milliseconds since 1970. */
  touchedAt: z.number(),
  /** Bytes of the sealed content that the service is known to have. */
  sent: z.int().min(0),
  sealed: z.boolean(),
  sealing: WrappedData,
  finishing: WrappedData,
});
export type AnswerRecord = z.infer<typeof AnswerRecord>;

/** Records of started answers, at most one per request. */
export interface AnswerRecords {
  /** Null if there is none, or if it has expired. */
  readonly get: (requestId: string) => Promise<AnswerRecord | null>;
  /** Replaces any started answer to the request. */
  readonly put: (record: AnswerRecord) => Promise<void>;
  /**
   * Like `UploadRecords.replace`: rejects with `not_found`, `conflict`. Durable when it resolves.
   */
  readonly replace: (record: AnswerRecord) => Promise<AnswerRecord>;
  readonly remove: (requestId: string) => Promise<void>;
  readonly close: () => void;
}

/**
 * Opens the records. Without IndexedDB (some private modes) they stay in memory, so answers do not
 * resume after a reload.
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

export function buildAnswerLockName(requestId: string): string {
  return `relicario-answer ${requestId}`;
}

type RecordHalf = "sealing" | "finishing";

export interface AnswerCipher {
  readonly wrap: (half: RecordHalf, value: SealingState | FinishingState) => Promise<WrappedData>;
  /** Rejects with `not_found` if the record belongs to another link. */
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
    let plainBytes: Bytes;
    try {
      plainBytes = new Uint8Array(await crypto.subtle.decrypt(algorithmFor(half, iv), key, data));
    } catch (cause) {
      throw new PortalError("not_found", { cause });
    }
    try {
      return schema.parse(JSON.parse(new TextDecoder().decode(plainBytes)));
    } finally {
      wipe(plainBytes);
    }
  }

  return {
    wrap: async (half, value) => {
      const plainBytes = utf8(JSON.stringify(value));
      const iv = randomBytes(12);
      try {
        return { iv, data: new Uint8Array(await crypto.subtle.encrypt(algorithmFor(half, iv), key, plainBytes)) };
      } finally {
        wipe(plainBytes);
      }
    },
    readSealingState: (record) => unwrap("sealing", record.sealing, SealingState),
    readFinishingState: (record) => unwrap("finishing", record.finishing, FinishingState),
  };
}

interface AnswerStore {
  readonly list: () => Promise<readonly (readonly [requestId: string, AnswerRecord | null])[]>;
  readonly get: (requestId: string) => Promise<AnswerRecord | null>;
  /** Runs in one transaction. Null deletes the record. */
  readonly update: (requestId: string, change: (existing: AnswerRecord | null) => AnswerRecord | null) => Promise<void>;
  readonly close: () => void;
}

interface AnswerDatabaseSchema extends DBSchema {
  answers: { key: string; value: AnswerRecord };
}

async function openStore(): Promise<AnswerStore> {
  try {
    return createDatabaseStore(
      await openDB<AnswerDatabaseSchema>(deviceStorage.answers.database, 1, {
        upgrade: (database) => {
          database.createObjectStore("answers");
        },
        blocking: (_current, _blocked, event) => {
          if (event.target instanceof IDBDatabase) event.target.close();
        },
      }),
    );
  } catch {
    return createMemoryStore(); // a private mode: the answer must be sent without a reload
  }
}

/** Ignores records of other releases. */
function parseRecord(value: unknown): AnswerRecord | null {
  return AnswerRecord.safeParse(value).data ?? null;
}

function createDatabaseStore(database: IDBPDatabase<AnswerDatabaseSchema>): AnswerStore {
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

function createMemoryStore(): AnswerStore {
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
