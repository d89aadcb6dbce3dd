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

import { buildResponseSchemas, contentResponseSchemas } from "../http/response-schemas.ts";

const params = z.strictObject({ share_id: ShareId });
const revoke = {
  summary: "Revokes a share; idempotent",
  params,
  response: buildResponseSchemas(z.undefined().describe("revoked"), 204),
};
const readInfo = {
  summary: "What opening a share needs; takes no view",
  params,
  response: buildResponseSchemas(ShareInfo),
};
const open = {
  summary: "The sender; with claim_id claims a view, once per claim_id",
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
    summary: "Changes expiry, number of views, or version",
    params,
    body: ChangeShareBody,
    response: buildResponseSchemas(ShareWriteResponse),
  },
  list: {
    summary: "Shares of one secret; with get_expired also ended ones",
    params: z.strictObject({ secret_id: Id }),
    querystring: ShareListQuery,
    response: buildResponseSchemas(ShareList),
  },
  listReceived: {
    summary: "What others shared with this account, and links for signed-in people that it opened",
    querystring: ShareListQuery,
    response: buildResponseSchemas(ReceivedShares),
  },
  revoke,
  readInfo,
  open,
  downloadContent: {
    summary: "The sealed content of a claimed view, or of an answer, as a stream; supports Range and If-Range",
    body: SharedDownloadBody,
    response: contentResponseSchemas,
  },
};
