import {
  FinishUploadBody,
  Id,
  PartFields,
  ReceivedPart,
  StoreSecretResponse,
  StartUploadFields,
  StartUploadResponse,
  UploadState,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

const params = z.strictObject({ upload_id: Id });
const consumes = ["multipart/form-data"];

export const uploadSchemas = {
  start: {
    summary: "Starts an upload of a new secret, or with base_version of a new version",
    consumes,
    body: StartUploadFields,
    response: buildResponseSchemas(StartUploadResponse),
  },
  receivePart: {
    summary: "One part: the fields part and sha256, then the file data; idempotent",
    consumes,
    params,
    body: PartFields.extend({ data: z.string().meta({ format: "binary" }) }),
    response: buildResponseSchemas(ReceivedPart),
  },
  readState: { summary: "Received parts", params, response: buildResponseSchemas(UploadState) },
  finish: {
    summary: "Publishes all parts as the next version, in one transaction with the keyring change",
    params,
    body: FinishUploadBody,
    response: buildResponseSchemas(StoreSecretResponse),
  },
  cancel: {
    summary: "Cancels an upload and deletes its parts",
    params,
    response: buildResponseSchemas(z.undefined().describe("deleted"), 204),
  },
};
