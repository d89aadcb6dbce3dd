import {
  ImageRecords,
  Keyring,
  KeyringChange,
  KeyringChanged,
  KeyStatement,
  RowsStaged,
  StagedRows,
  StageRows,
  UserName,
  Id,
} from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

export const keyringSchemas = {
  get: {
    summary:
      "Slots, book, shares, requests and state; with states_since the chain of states after it; with or_none=true 204 where there is no keyring yet",
    querystring: z.strictObject({
      states_since: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      or_none: z.literal("true").optional(),
    }),
    response: { ...answers(Keyring), ...answers(z.null().describe("nothing"), 204) },
  },
  put: { summary: "A keyring change without a secret", body: KeyringChange, response: answers(KeyringChanged) },
  stage: {
    summary: "Rows sealed anew, invisible until the keyring change that switches to them",
    body: StageRows,
    response: answers(RowsStaged),
  },
  staged: {
    summary: "The rows of a stage, by digest",
    params: z.strictObject({ stage_id: Id }),
    querystring: z.strictObject({ cursor: Id.optional() }),
    response: answers(StagedRows),
  },
  imageRecords: {
    summary: "Helpers of the present image openers; the only call that gives them",
    response: answers(ImageRecords),
  },
  keyOf: {
    summary: "The published key of a person of the same vendor",
    params: z.strictObject({ user_name: UserName }),
    response: answers(KeyStatement),
  },
};
