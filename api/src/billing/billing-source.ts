import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { BillingRecord } from "@relicario/shared/api";

import type { Env } from "../env/env.ts";
import { Problem } from "../http/problem.ts";

/** The operator's billing system. */
export interface BillingSource {
  /** Null for an unknown account. @throws Problem `service_unavailable` */
  read(accountId: string): Promise<BillingRecord | null>;
}

const timeoutSeconds = 5;
/** Larger than any valid {@link BillingRecord}. */
const maxResponseBytes = 512 * 1024;

/**
 * `http(s)://…`: GET `<BILLING_URL>/<account id>` with `BILLING_TOKEN` as bearer token; 404 for an
 * unknown account. Anything else is a folder of `<account id>.json` files, for development. Without
 * it there is no billing.
 */
export function createBillingSource({
  BILLING_URL,
  BILLING_TOKEN,
}: Pick<Env, "BILLING_URL" | "BILLING_TOKEN">): BillingSource {
  if (BILLING_URL === undefined) return { read: () => Promise.resolve(null) };
  return /^https?:\/\//.test(BILLING_URL)
    ? createHttpSource(BILLING_URL.replace(/\/+$/, ""), BILLING_TOKEN)
    : createFolderSource(BILLING_URL.startsWith("file://") ? fileURLToPath(BILLING_URL) : BILLING_URL);
}

function createHttpSource(url: string, token: string | undefined): BillingSource {
  const headers = { accept: "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  return {
    async read(accountId) {
      try {
        const response = await fetch(`${url}/${accountId}`, {
          headers,
          redirect: "error",
          signal: AbortSignal.timeout(timeoutSeconds * 1_000),
        });
        if (response.status === 404) return null;
        if (!response.ok) throw new Error(`the billing system answered ${String(response.status)}`);
        return parseRecord(await readTextWithLimit(response));
      } catch (cause) {
        throw new Problem("service_unavailable", { cause });
      }
    },
  };
}

function createFolderSource(path: string): BillingSource {
  const folder = resolve(path);
  return {
    async read(accountId) {
      const text = await readFile(join(folder, `${accountId}.json`), "utf8").catch((error: unknown) => {
        if (Error.isError(error) && "code" in error && error.code === "ENOENT") return null;
        throw new Problem("service_unavailable", { cause: error });
      });
      try {
        return text === null ? null : parseRecord(text);
      } catch (cause) {
        throw new Problem("service_unavailable", { cause });
      }
    },
  };
}

/**
 * Parses a record, and sorts its invoices newest first. @throws Error for anything but a {@link
 * BillingRecord}
 */
function parseRecord(text: string): BillingRecord {
  const record = BillingRecord.parse(JSON.parse(text));
  return {
    ...record,
    invoices: record.invoices.toSorted((left, right) => right.issued_at.localeCompare(left.issued_at)),
  };
}

async function readTextWithLimit(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxResponseBytes) throw new Error("the response of the billing system is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
