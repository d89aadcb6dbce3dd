import { ImageRecords, Keyring, KeyringChange, KeyringChanged, KeyStatement, UserName } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

export const keyringSchemas = {
  get: {
    summary: "Slots, book, shares, requests and state; with states_since the chain of states after it",
    querystring: z.strictObject({ states_since: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional() }),
    response: answers(Keyring),
  },
  put: { summary: "A keyring change without a secret", body: KeyringChange, response: answers(KeyringChanged) },
  imageRecords: { summary: "Helpers of the present image openers; the only call that gives them", response: answers(ImageRecords) },
  keyOf: {
    summary: "The published key of a person of the same vendor",
    params: z.strictObject({ user_name: UserName }),
    response: answers(KeyStatement),
  },
};
