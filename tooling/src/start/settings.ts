import { delimiter, join, resolve } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { UserFacingError } from "../user-facing-error.ts";

const emptyToUndefined = (value: unknown): unknown => (value === "" ? undefined : value);

const Environment = z.object({
  PORT: z.preprocess(
    emptyToUndefined,
    z.coerce
      .number("is not a port")
      .int("is not a port")
      .min(0, "is not a port")
      .max(65_532, "is not a port")
      .default(3000),
  ),
  DATA_DIR: z.preprocess(emptyToUndefined, z.string().default(join(rootFolder, ".data"))),
  /** Your own PostgreSQL database for the service; the identity provider then needs one too. */
  DATABASE_URL: z.preprocess(
    emptyToUndefined,
    z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }).optional(),
  ),
  IDENTITY_DATABASE_URL: z.preprocess(
    emptyToUndefined,
    z.url({ protocol: /^postgres(ql)?$/, error: "is not a postgresql address" }).optional(),
  ),
  /** Your own identity provider. */
  IDP_AUTHORITY: z.preprocess(
    emptyToUndefined,
    z.url({ protocol: /^https?$/, error: "is not an http(s) address" }).optional(),
  ),
  IDP_CLIENT_ID: z.preprocess(emptyToUndefined, z.string().default("relicario-portal")),
  ENVIRONMENT: z.preprocess(emptyToUndefined, z.string().default("test")),
  /** Folders of remotes from outside this repository, separated as in PATH. */
  REMOTES: z.preprocess(emptyToUndefined, z.string().default("")),
});

export interface StartSettings {
  readonly port: number;
  readonly dataDir: string;
  readonly databaseUrls: { readonly service: string; readonly identity: string | null } | null;
  readonly authority: string | null;
  readonly clientId: string;
  readonly environment: string;
  readonly remoteFolders: readonly string[];
}

/** @throws UserFacingError that lists all wrong variables, without their values */
export function readStartSettings(environment: Readonly<Record<string, string | undefined>>): StartSettings {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success) {
    const problems = new Map(parsed.error.issues.map(({ path, message }) => [String(path[0]), message]));
    throw new UserFacingError([...problems].map(([name, message]) => `${name} ${message}`).join("; "));
  }
  const values = parsed.data;
  if (
    values.DATABASE_URL !== undefined &&
    values.IDENTITY_DATABASE_URL === undefined &&
    values.IDP_AUTHORITY === undefined
  ) {
    throw new UserFacingError(
      "DATABASE_URL is set: set IDENTITY_DATABASE_URL too, or IDP_AUTHORITY to use an identity provider of your own.",
    );
  }
  return {
    port: values.PORT,
    dataDir: resolve(values.DATA_DIR),
    databaseUrls:
      values.DATABASE_URL === undefined
        ? null
        : { service: values.DATABASE_URL, identity: values.IDENTITY_DATABASE_URL ?? null },
    authority: values.IDP_AUTHORITY ?? null,
    clientId: values.IDP_CLIENT_ID,
    environment: values.ENVIRONMENT,
    remoteFolders: values.REMOTES.split(delimiter)
      .filter((folder) => folder !== "")
      .map((folder) => resolve(folder)),
  };
}
