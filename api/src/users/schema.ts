import {
  ValidateContactEmailResponse,
  Me,
  UpdateMeBody,
  ValidateUserNameResponse,
  ValidateContactEmailQuery,
  ValidateUserNameQuery,
} from "@relicario/shared/api";

import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const userSchemas = {
  readMe: { summary: "The account that is signed in", response: buildResponseSchemas(Me) },
  update: {
    summary: "Changes user name, contact address or settings; returns the account",
    body: UpdateMeBody,
    response: buildResponseSchemas(Me),
  },
  validateName: {
    summary: "Whether the account could have this user name; 422 says why not",
    querystring: ValidateUserNameQuery,
    response: buildResponseSchemas(ValidateUserNameResponse),
  },
  requestAddressValidation: {
    summary: "Sends a mail with a link to the contact address",
    response: buildResponseSchemas(z.undefined().describe("sent, or verified already"), 204),
  },
  confirmAddress: {
    summary: "Confirms the contact address with the nonce of the mail's link; once, within 24 hours",
    querystring: ValidateContactEmailQuery,
    response: buildResponseSchemas(ValidateContactEmailResponse),
  },
};
