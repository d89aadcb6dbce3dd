import {
  GetSecretBody,
  Id,
  SecretListQuery,
  SecretContent,
  SecretPage,
  StoreSecretResponse,
  SecretVersions,
  SetFavoriteBody,
  StoreSecretsResponse,
  StoredSecret,
  StoreSecretBody,
  StoreSecretsBody,
  VersionQuery,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas, contentResponseSchemas } from "../http/response-schemas.ts";

export const secretSchemas = {
  list: {
    summary:
      "Secrets of the account by id, trash included, up to the limit or 512 KiB of labels; with since only changed ones",
    querystring: SecretListQuery,
    response: { ...buildResponseSchemas(SecretPage), 304: z.undefined().describe("nothing changed since the ETag") },
  },
  store: {
    summary: "A new secret or version, a new label or ticket, or a restore from the trash",
    body: StoreSecretBody,
    response: buildResponseSchemas(StoreSecretResponse),
  },
  storeBatch: {
    summary: "New small secrets with one keyring change, all of them or none",
    body: StoreSecretsBody,
    response: buildResponseSchemas(StoreSecretsResponse),
  },
  trash: {
    summary: "Moves a secret to the trash, for 30 days",
    params: z.strictObject({ secret_db_id: Id }),
    response: buildResponseSchemas(StoredSecret),
  },
  get: {
    summary: "Ticket and content of one version, and the first page of all versions",
    body: GetSecretBody,
    response: buildResponseSchemas(SecretContent),
  },
  listVersions: {
    summary: "All versions of a secret, dropped ones included, newest first",
    params: z.strictObject({ secret_db_id: Id }),
    querystring: VersionQuery,
    response: buildResponseSchemas(SecretVersions),
  },
  downloadContent: {
    summary: "The sealed content of one version as a stream; supports Range and If-Range",
    body: GetSecretBody,
    response: contentResponseSchemas,
  },
  favorite: {
    summary: "Sets or removes the star",
    body: SetFavoriteBody,
    response: buildResponseSchemas(StoredSecret),
  },
};
