import {
  ContactEmailValidated,
  Me,
  UpdateMe,
  UserNameValid,
  ValidateContactEmail,
  ValidateUserName,
} from "@relicario/shared/api";

import { z } from "zod";

import { answers } from "../http/answers.ts";

export const userSchemas = {
  me: { summary: "The account that is signed in", response: answers(Me) },
  update: {
    summary: "Changes user name, contact address or settings; the answer is the account as it is then",
    body: UpdateMe,
    response: answers(Me),
  },
  validateName: {
    summary: "Whether the account could have this user name; 422 says why not",
    querystring: ValidateUserName,
    response: answers(UserNameValid),
  },
  askAddress: {
    summary: "Sends a mail with a link to the contact address",
    response: answers(z.undefined().describe("it is sent, or verified already"), 204),
  },
  answerAddress: {
    summary: "Confirms the contact address by what the mail's link carried; once, within 24 hours",
    querystring: ValidateContactEmail,
    response: answers(ContactEmailValidated),
  },
};
