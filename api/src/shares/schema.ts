import {
  ChangeShare,
  CreateShare,
  DownloadShared,
  Id,
  OpenShare,
  ShareClaimed,
  ShareId,
  ShareList,
  ShareListQuery,
  ShareLook,
  ShareOffer,
  ShareStored,
  SharesWithMe,
} from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

const params = z.strictObject({ share_id: ShareId });
const revoke = {
  summary: "Ends a share at once; again is the same as once",
  params,
  response: answers(z.undefined().describe("it is over"), 204),
};
const look = { summary: "What a share asks for; costs no view", params, response: answers(ShareLook) };
const open = {
  summary: "Who sent it; with claim_id claims one view, the same one for the same claim_id",
  body: OpenShare,
  response: answers(z.union([ShareClaimed, ShareOffer])),
};

export const shareSchemas = {
  create: {
    summary: "Shares the present version of a secret by a link or with a person",
    body: CreateShare,
    response: answers(ShareStored),
  },
  change: {
    summary: "Another expiry, number of views, or a later version",
    params,
    body: ChangeShare,
    response: answers(ShareStored),
  },
  list: {
    summary: "Shares of one secret; with get_expired those that are over, too",
    params: z.strictObject({ secret_id: Id }),
    querystring: ShareListQuery,
    response: answers(ShareList),
  },
  received: {
    summary: "What others shared with this account, and links for signed-in people that it opened",
    querystring: ShareListQuery,
    response: answers(SharesWithMe),
  },
  revoke,
  look,
  open,
  content: {
    summary: "The sealed content of a claimed view, or of an answer, as a stream; Range and If-Range are kept to",
    body: DownloadShared,
    response: {
      ...answers(z.unknown().describe("the sealed content")),
      206: z.unknown().describe("the range that was asked for"),
    },
  },
};
