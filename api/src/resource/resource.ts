import type { KeyringChange } from "@relicario/shared/api";
import type { SQL } from "drizzle-orm";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";

import type { Tx } from "../db/database.ts";
import type { SweepContext } from "./sweep-context.ts";

/**
 * What one folder brings into the service. Those of all folders stand in a list (`resources.ts`);
 * nothing else names them.
 *
 * `S` is what it needs of `services/services.ts`.
 */
export interface Resource<S> {
  readonly routes?: FastifyPluginAsyncZod<{ services: S }>;
  /** What falls due by time, by its name in metrics and log. They run in the order of the list. */
  readonly sweeps?: Readonly<Record<string, (services: S, context: SweepContext) => Promise<unknown>>>;
  /**
   * Does what a keyring change means for its own rows, in the transaction of the change.
   *
   * @returns the bytes that became free.
   * @throws Problem when it does not fit what is there.
   */
  readonly onKeyringChange?: (services: S, tx: Tx, written: WrittenChange) => Promise<number>;
  /** Ends what shows contents of secrets, before they end. @returns the bytes that became free. */
  readonly onContentsEnd?: (tx: Tx, accountId: string, ended: EndedContents, now: Date) => Promise<number>;
}

/** A keyring change that was checked and written. */
export interface WrittenChange {
  readonly accountId: string;
  readonly vendorId: string;
  /** Before it; null for the first change. */
  readonly previousKeyEpoch: number | null;
  readonly change: KeyringChange;
  readonly now: Date;
}

/** Contents of secrets: these versions, or all; or the pairs of secret and version of a query. */
export type EndedContents =
  | { readonly secretIds: readonly string[]; readonly versions?: readonly number[] | undefined }
  | { readonly pairs: SQL };
