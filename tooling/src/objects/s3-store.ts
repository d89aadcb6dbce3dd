import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import {
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { maxSmallSealedBytes } from "@relicario/shared/api";
import { z } from "zod";

import {
  createObjectStore,
  ExistingObjectError,
  MissingObjectError,
  ObjectStoreError,
  type ExpectedBytes,
  type ObjectStore,
  type ObjectStoreFault,
  type StoreBackend,
} from "./object-store.ts";
import type { S3Address } from "./store-address.ts";

const connectionMilliseconds = 5_000;
/** Without a byte in either direction; longer than any pause that the gateway allows. */
const idleMilliseconds = 80_000;
/** Slow downloads hold a connection each. */
const maxConnections = 2_000;
/**
 * Shorter streams are buffered, so that the library can send them again; longer ones get a new
 * connection each.
 */
const maxRetriedBytes = 2 * 1024 ** 2;
/** A small secret is one chunk: it is verified before its first byte is sent. */
const readChunkBytes = maxSmallSealedBytes;

/** The library writes plain text to standard output; the caller reports every failure. */
const ignore = (): void => undefined;
const silentLogger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

const RequestWithHeaders = z.object({ headers: z.custom<Record<string, string>>() });

/** By the store's error code, or by the status of a response. */
const faultsByCode: Readonly<Record<string, ObjectStoreFault>> = {
  QuotaExceeded: "full",
  QuotaExceededException: "full",
  InsufficientCapacity: "full",
  XMinioStorageFull: "full",
  507: "full",
  SlowDown: "busy",
  TooManyRequests: "busy",
  ConditionalRequestConflict: "busy",
  429: "busy",
};

/**
 * Stores objects in a bucket of an S3-compatible store. Credentials, and the region without one in
 * the address, come from the library's chain (environment, profile, role of the machine).
 */
export function openS3Store(address: S3Address): ObjectStore {
  const httpAgent = { maxSockets: maxConnections };
  const client = new S3Client({
    ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint }),
    ...(address.region === undefined ? {} : { region: address.region }),
    ...(address.profile === undefined ? {} : { profile: address.profile }),
    forcePathStyle: address.style === "path",
    logger: silentLogger,
    requestChecksumCalculation: "WHEN_REQUIRED", // the caller's SHA-256 is sent
    responseChecksumValidation: "WHEN_REQUIRED", // every read is compared with its row
    requestHandler: {
      connectionTimeout: connectionMilliseconds,
      socketTimeout: idleMilliseconds,
      httpAgent,
      httpsAgent: httpAgent,
    },
  });
  return createObjectStore(createS3Backend(client, address));
}

const createS3Backend = (client: S3Client, { bucket, prefix }: S3Address): StoreBackend => {
  const locate = (key: string) => ({ Bucket: bucket, Key: `${prefix}${key}` });
  return {
    async put(key, bytes, expected) {
      const body = bytes instanceof Readable && expected.size <= maxRetriedBytes ? await buffer(bytes) : bytes;
      const command = new PutObjectCommand({
        ...locate(key),
        Body: body,
        ContentLength: expected.size,
        ContentType: "application/octet-stream",
        ChecksumSHA256: expected.sha256.toString("base64"),
        IfNoneMatch: "*",
      });
      signDigest(command, expected);
      await (body instanceof Readable
        ? sendStream(body, (abortSignal) => withStoreFaults(client.send(command, { abortSignal })))
        : withStoreFaults(client.send(command)));
    },
    async read(key) {
      const { Body: body } = await withStoreFaults(client.send(new GetObjectCommand(locate(key))));
      if (!(body instanceof Readable)) throw new ObjectStoreError("away");
      body.on("error", () => undefined); // the reader gets it, also when it starts later
      const stream = Readable.from(joinChunks(body), { objectMode: false });
      stream.once("close", () => body.destroy()); // also when it was never read
      return stream;
    },
    async delete(key) {
      await withStoreFaults(client.send(new DeleteObjectCommand(locate(key))));
    },
    async *list() {
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix });
      for (
        let page = await withStoreFaults(pages.next());
        page.done !== true;
        page = await withStoreFaults(pages.next())
      )
        for (const { Key: key } of page.value.Contents ?? []) if (key !== undefined) yield key.slice(prefix.length);
    },
    ping: () => Promise.resolve(),
  };
};

/**
 * Signs the digest instead of `UNSIGNED-PAYLOAD`, so that no store publishes an object whose body
 * was cut.
 */
function signDigest({ middlewareStack }: PutObjectCommand, { sha256 }: ExpectedBytes): void {
  middlewareStack.add(
    (next) => (call) => {
      Object.assign(RequestWithHeaders.parse(call.request).headers, { "x-amz-content-sha256": sha256.toString("hex") });
      return next(call);
    },
    { step: "build", name: "signDigest" },
  );
}

/** The library pipes the stream and does not notice when it fails. */
async function sendStream(stream: Readable, send: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const abortController = new AbortController();
  let failure: { readonly error: unknown } | null = null;
  stream.once("error", (error) => {
    failure = { error };
    abortController.abort();
  });
  const getFailure = (): typeof failure => failure;
  try {
    await send(abortController.signal);
  } catch (error) {
    throw getFailure() === null ? error : getFailure()?.error;
  }
}

async function* joinChunks(body: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size < readChunkBytes) continue;
      yield Buffer.concat(chunks);
      [chunks, size] = [[], 0];
    }
  } catch (cause) {
    throw new ObjectStoreError("away", { cause });
  }
  if (size > 0) yield Buffer.concat(chunks);
}

async function withStoreFaults<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    const { name, $metadata } = cause instanceof S3ServiceException ? cause : { name: "", $metadata: {} };
    if (name === "NoSuchKey") throw new MissingObjectError("no such object", { cause });
    if ($metadata.httpStatusCode === 412) throw new ExistingObjectError("the key exists", { cause });
    throw new ObjectStoreError(faultsByCode[name] ?? faultsByCode[String($metadata.httpStatusCode)] ?? "away", {
      cause,
    });
  }
}
