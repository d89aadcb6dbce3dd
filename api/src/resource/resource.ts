import type { KeyringChange } from "@relicario/shared/api";
import type { SQL } from "drizzle-orm";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import type { Tx } from "../db/database.ts";
import type { SweepContext } from "./sweep-context.ts";

/**
 * What one folder adds to the service. `resources.ts` lists all of them; nothing else refers to
 * them.
 *
 * `S` is what it needs of `services/services.ts`.
 */
export interface Resource<S> {
  readonly routes?: FastifyPluginAsyncZod<{ services: S }>;
  /** Periodic jobs, by their name in metrics and log. They run in this order. */
  readonly sweeps?: Readonly<Record<string, (services: S, context: SweepContext) => Promise<unknown>>>;
  /**
   * Applies a keyring change to the resource's own rows, in the transaction of the change.
   *
   * @returns the freed bytes.
   * @throws Problem when the change contradicts these rows.
   */
  readonly onKeyringChange?: (services: S, tx: Tx, writtenChange: WrittenChange) => Promise<number>;
  /**
   * Ends what depends on contents, such as shares, before the contents are removed.
   *
   * @returns the freed bytes.
   */
  readonly onContentsRemoved?: (
    tx: Tx,
    accountId: string,
    removedContents: RemovedContents,
    now: Date,
  ) => Promise<number>;
}

/** A checked and written keyring change. */
export interface WrittenChange {
  readonly accountId: string;
  readonly vendorId: string;
  /** Null for the first change. */
  readonly previousKeyEpoch: number | null;
  readonly change: KeyringChange;
  readonly now: Date;
}

/**
 * Contents of secrets that are removed: all or some versions of them; or the pairs of secret and
 * version that a query selects.
 */
export type RemovedContents =
  | { readonly secretIds: readonly string[]; readonly versions?: readonly number[] | undefined }
  | { readonly pairs: SQL };
