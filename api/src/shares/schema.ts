import {
  ChangeShareBody,
  CreateShareBody,
  SharedDownloadBody,
  Id,
  OpenShareBody,
  ShareClaim,
  ShareId,
  ShareList,
  ShareListQuery,
  ShareInfo,
  ShareOffer,
  ShareWriteResponse,
  ReceivedShares,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

const params = z.strictObject({ share_id: ShareId });
const revoke = {
  summary: "Ends a share at once; again is the same as once",
  params,
  response: buildResponseSchemas(z.undefined().describe("it is over"), 204),
};
const look = { summary: "What a share asks for; costs no view", params, response: buildResponseSchemas(ShareInfo) };
const open = {
  summary: "Who sent it; with claim_id claims one view, the same one for the same claim_id",
  body: OpenShareBody,
  response: buildResponseSchemas(z.union([ShareClaim, ShareOffer])),
};

export const shareSchemas = {
  create: {
    summary: "Shares the present version of a secret by a link or with a person",
    body: CreateShareBody,
    response: buildResponseSchemas(ShareWriteResponse),
  },
  change: {
    summary: "Another expiry, number of views, or a later version",
    params,
    body: ChangeShareBody,
    response: buildResponseSchemas(ShareWriteResponse),
  },
  list: {
    summary: "Shares of one secret; with get_expired those that are over, too",
    params: z.strictObject({ secret_id: Id }),
    querystring: ShareListQuery,
    response: buildResponseSchemas(ShareList),
  },
  received: {
    summary: "What others shared with this account, and links for signed-in people that it opened",
    querystring: ShareListQuery,
    response: buildResponseSchemas(ReceivedShares),
  },
  revoke,
  look,
  open,
  content: {
    summary: "The sealed content of a claimed view, or of an answer, as a stream; Range and If-Range are kept to",
    body: SharedDownloadBody,
    response: {
      ...buildResponseSchemas(z.unknown().describe("the sealed content")),
      206: z.unknown().describe("the range that was asked for"),
    },
  },
};
