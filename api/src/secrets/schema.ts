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
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const secretSchemas = {
  list: {
    summary:
      "Rows of the account by id, trash included, as many as were asked for or as fit 512 KiB of labels; with since what changed",
    querystring: SecretListQuery,
    response: { ...buildResponseSchemas(SecretPage), 304: z.undefined().describe("nothing changed since the ETag") },
  },
  store: {
    summary: "A new secret or version, a new label or ticket, or a restore from the trash",
    body: StoreSecretBody,
    response: buildResponseSchemas(StoreSecretResponse),
  },
  batch: {
    summary: "New small secrets with one keyring change, all of them or none",
    body: StoreSecretsBody,
    response: buildResponseSchemas(StoreSecretsResponse),
  },
  trash: {
    summary: "To the trash, for 30 days",
    params: z.strictObject({ secret_db_id: Id }),
    response: buildResponseSchemas(StoredSecret),
  },
  get: {
    summary: "Ticket and content of one version",
    body: GetSecretBody,
    response: buildResponseSchemas(SecretContent),
  },
  versions: {
    summary: "One line for every version that there ever was, its content kept or dropped",
    params: z.strictObject({ secret_db_id: Id }),
    response: buildResponseSchemas(SecretVersions),
  },
  stream: {
    summary: "The sealed content of one version as a stream; Range and If-Range are kept to",
    body: GetSecretBody,
    response: {
      ...buildResponseSchemas(z.unknown().describe("the sealed content")),
      206: z.unknown().describe("the range that was asked for"),
    },
  },
  favorite: {
    summary: "Sets or takes away the star",
    body: SetFavoriteBody,
    response: buildResponseSchemas(StoredSecret),
  },
};
