import type { Socket } from "node:net";

import { findAccountReads } from "./account-reads.ts";
import { startProxy } from "./database-faults.ts";

/**
 * A proxy to the real database that stands for a distributed one: rows of half of the accounts are
 * on a shard that can be lost. Statements on them, or on all accounts, then fail as Citus lets them
 * fail, and so do all on `rate_limits`, whose rows are on that shard.
 */
export interface ShardedDatabase {
  /** The database's address through the proxy. */
  readonly url: string;
  loseShard(): void;
  restoreShard(): void;
  close(): Promise<void>;
}

/** By the last digit of its random part. */
export function isOnLostShard(accountId: string): boolean {
  return Number.parseInt(accountId.slice(-1), 16) >= 8;
}

export async function startShardedDatabase(url: string): Promise<ShardedDatabase> {
  const state = { isShardLost: false };
  const proxy = await startProxy(url, (client, upstream) => {
    upstream.pipe(client);
    forwardBatches(client, upstream, state);
  });
  return {
    url: proxy.url,
    loseShard() {
      state.isShardLost = true;
    },
    restoreShard() {
      state.isShardLost = false;
    },
    close: proxy.close,
  };
}

/** A message of PostgreSQL's protocol, without its type and length. */
interface Message {
  readonly type: string;
  readonly body: Buffer;
  readonly bytes: Buffer;
}

/** PostgreSQL's protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html */
function forwardBatches(client: Socket, upstream: Socket, state: { readonly isShardLost: boolean }): void {
  const texts = new Map<string, string>();
  let isStarted = false;
  let received = Buffer.alloc(0);
  let batch: Message[] = [];
  let forwarded: Promise<unknown> = Promise.resolve();

  client.on("data", (chunk) => {
    received = Buffer.concat([received, Buffer.from(chunk)]);
    for (let message = takeMessage(); message !== null; message = takeMessage()) {
      batch.push(message);
      if (message.type === "P" || message.type === "B" || message.type === "D" || message.type === "E") continue;
      const messages = batch;
      batch = [];
      forwarded = forwarded.then(async () => {
        const bytes = Buffer.concat(messages.map((sent) => sent.bytes));
        upstream.write((await needsShard(messages)) && state.isShardLost ? failingQuery : bytes);
      });
    }
  });

  /** The first message has no type. */
  function takeMessage(): Message | null {
    const start = isStarted ? 1 : 0;
    if (received.length < start + 4) return null;
    const length = start + received.readUInt32BE(start);
    if (received.length < length) return null;
    const bytes = received.subarray(0, length);
    const message = {
      type: isStarted ? String.fromCharCode(bytes[0] ?? 0) : "",
      body: bytes.subarray(start + 4),
      bytes,
    };
    received = received.subarray(length);
    isStarted = true;
    return message;
  }

  async function needsShard(messages: readonly Message[]): Promise<boolean> {
    for (const { type, body } of messages) {
      const [first, second] = readStrings(body);
      if (type === "P") texts.set(first, second);
      if (type === "B" && (await isOnShard(texts.get(second) ?? "", readParameters(body)))) return true;
    }
    return false;
  }
}

async function isOnShard(text: string, values: readonly string[]): Promise<boolean> {
  if (text.includes('"rate_limits"')) return true;
  const { accountParameters, ofAllAccounts } = await findAccountReads(text);
  return ofAllAccounts.length > 0 || accountParameters.some((number) => isOnLostShard(values[number - 1] ?? ""));
}

/** Two strings, each with a null byte at its end. */
function readStrings(body: Buffer): [string, string] {
  const [first = "", second = ""] = body.toString("latin1").split("\0", 2);
  return [first, second];
}

/** Of a Bind message, as text. */
function readParameters(body: Buffer): string[] {
  let offset = body.indexOf(0, body.indexOf(0) + 1) + 1; // after both names
  offset += 2 + 2 * body.readUInt16BE(offset); // formats
  return Array.from({ length: body.readUInt16BE(offset) }, (_, index) => {
    if (index === 0) offset += 2;
    const length = body.readInt32BE(offset);
    const value = body.toString("utf8", offset + 4, offset + 4 + Math.max(0, length));
    offset += 4 + Math.max(0, length);
    return value;
  });
}

/** Fails as in Citus (connection_failure), also inside a transaction. */
const failingQuery = buildQuery(
  "do $$ begin raise exception 'connection to the remote node failed' using errcode = '08006'; end $$",
);

function buildQuery(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const header = Buffer.alloc(5, "Q");
  header.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}
