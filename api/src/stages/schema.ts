import { Id, StageManifest, StageRowsBody, StageRowsResponse } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const stageSchemas = {
  stage: {
    summary: "Rows sealed anew, invisible until the keyring change that switches to them",
    body: StageRowsBody,
    response: buildResponseSchemas(StageRowsResponse),
  },
  staged: {
    summary: "The rows of a stage, by digest",
    params: z.strictObject({ stage_id: Id }),
    querystring: z.strictObject({ cursor: Id.optional() }),
    response: buildResponseSchemas(StageManifest),
  },
};
