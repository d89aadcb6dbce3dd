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
    summary: "Begins an upload of a new secret, or with base_version of a new version",
    consumes,
    body: StartUploadFields,
    response: buildResponseSchemas(StartUploadResponse),
  },
  part: {
    summary: "One part: the fields part and sha256, then the file data; the same one again is the same as once",
    consumes,
    params,
    body: PartFields.extend({ data: z.string().meta({ format: "binary" }) }),
    response: buildResponseSchemas(ReceivedPart),
  },
  state: { summary: "Which parts are there", params, response: buildResponseSchemas(UploadState) },
  finish: {
    summary: "Publishes all parts as the next version, in one transaction with the keyring change",
    params,
    body: FinishUploadBody,
    response: buildResponseSchemas(StoreSecretResponse),
  },
  cancel: {
    summary: "Gives the upload up; its parts go at once",
    params,
    response: buildResponseSchemas(z.undefined().describe("it is gone"), 204),
  },
};
