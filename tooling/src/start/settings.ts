import { delimiter, join, resolve } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { Complaint } from "./complaint.ts";

const empty = (value: unknown): unknown => (value === "" ? undefined : value);

const Environment = z.object({
  PORT: z.preprocess(
    empty,
    z.coerce
      .number("is not a port")
      .int("is not a port")
      .min(0, "is not a port")
      .max(65_532, "is not a port")
      .default(3000),
  ),
  DATA_DIR: z.preprocess(empty, z.string().default(join(rootFolder, ".data"))),
  /**
   * A PostgreSQL server of your own, for the service; then the identity provider needs a database
   * there too.
   */
  DATABASE_URL: z.preprocess(
    empty,
    z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }).optional(),
  ),
  IDENTITY_DATABASE_URL: z.preprocess(
    empty,
    z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }).optional(),
  ),
  /** An identity provider of your own. */
  IDP_AUTHORITY: z.preprocess(empty, z.url({ protocol: /^https?$/, error: "is not an http(s) address" }).optional()),
  IDP_CLIENT_ID: z.preprocess(empty, z.string().default("relicario-portal")),
  ENVIRONMENT: z.preprocess(empty, z.string().default("test")),
  /** Folders of remotes from outside this repository, separated as in PATH. */
  REMOTES: z.preprocess(empty, z.string().default("")),
});

/** What the start command is told by its environment. */
export interface StartSettings {
  readonly port: number;
  readonly dataDir: string;
  readonly databaseUrls: { readonly service: string; readonly identity: string | null } | null;
  readonly authority: string | null;
  readonly clientId: string;
  readonly environment: string;
  readonly remoteFolders: readonly string[];
}

/** @throws Complaint that lists all names that are wrong, without their values */
export function readStartSettings(environment: Readonly<Record<string, string | undefined>>): StartSettings {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success) {
    const problems = new Map(parsed.error.issues.map(({ path, message }) => [String(path[0]), message]));
    throw new Complaint([...problems].map(([name, message]) => `${name} ${message}`).join("; "));
  }
  const found = parsed.data;
  if (
    found.DATABASE_URL !== undefined &&
    found.IDENTITY_DATABASE_URL === undefined &&
    found.IDP_AUTHORITY === undefined
  ) {
    throw new Complaint(
      "DATABASE_URL is set: set IDENTITY_DATABASE_URL too, or IDP_AUTHORITY to use an identity provider of your own.",
    );
  }
  return {
    port: found.PORT,
    dataDir: resolve(found.DATA_DIR),
    databaseUrls:
      found.DATABASE_URL === undefined
        ? null
        : { service: found.DATABASE_URL, identity: found.IDENTITY_DATABASE_URL ?? null },
    authority: found.IDP_AUTHORITY ?? null,
    clientId: found.IDP_CLIENT_ID,
    environment: found.ENVIRONMENT,
    remoteFolders: found.REMOTES.split(delimiter)
      .filter((folder) => folder !== "")
      .map((folder) => resolve(folder)),
  };
}
