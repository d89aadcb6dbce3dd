import { Id, StageManifest, StageQuery, StageRowsBody, StageRowsResponse } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const stageSchemas = {
  stageRows: {
    summary: "Stages re-sealed rows, hidden until a keyring change switches to them",
    body: StageRowsBody,
    response: buildResponseSchemas(StageRowsResponse),
  },
  readManifest: {
    summary: "The rows of a stage, by digest",
    params: z.strictObject({ stage_id: Id }),
    querystring: StageQuery,
    response: buildResponseSchemas(StageManifest),
  },
};
