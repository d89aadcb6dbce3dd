import {
  CollectAnswerResponse,
  FinishAnswerResponse,
  StartAnswerResponse,
  AnswerState,
  CollectAnswerBody,
  MarkCollectedBody,
  CreateRequestBody,
  DropRequestBody,
  FinishAnswerBody,
  GetRequestBody,
  Id,
  PartFields,
  ReceivedPart,
  RequestId,
  RequestList,
  RequestOffer,
  RequestWriteResponse,
  ShareListQuery,
  StartAnswerBody,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

const params = z.strictObject({ request_id: RequestId });
const answerParams = z.strictObject({ answer_id: Id });

export const requestSchemas = {
  create: {
    summary: "Asks somebody for a secret",
    body: CreateRequestBody,
    response: buildResponseSchemas(RequestWriteResponse),
  },
  list: {
    summary: "What this account asked for; with get_expired what is over, too",
    querystring: ShareListQuery,
    response: buildResponseSchemas(RequestList),
  },
  drop: {
    summary: "Ends a request, or drops what came and was collected",
    params,
    body: DropRequestBody,
    response: buildResponseSchemas(RequestWriteResponse),
  },
  collected: {
    summary: "Says that an answer was collected: its content goes 7 days later",
    params,
    body: MarkCollectedBody,
    response: buildResponseSchemas(RequestWriteResponse),
  },
  collect: {
    summary: "Ticket and download of what came; only reads",
    body: CollectAnswerBody,
    response: buildResponseSchemas(CollectAnswerResponse),
  },
  get: {
    summary: "What is asked for, for whoever has the link; costs nothing",
    body: GetRequestBody,
    response: buildResponseSchemas(RequestOffer),
  },
  start: { summary: "Begins an answer", body: StartAnswerBody, response: buildResponseSchemas(StartAnswerResponse) },
  part: {
    summary:
      "One part of an answer: the fields part and sha256, then the file data; the same one again is the same as once",
    consumes: ["multipart/form-data"],
    params: answerParams,
    body: PartFields.extend({ data: z.string().meta({ format: "binary" }) }),
    response: buildResponseSchemas(ReceivedPart),
  },
  state: {
    summary: "Which parts of an answer are there",
    params: answerParams,
    response: buildResponseSchemas(AnswerState),
  },
  finish: {
    summary: "Answers the request with all parts; the first finish wins",
    params: answerParams,
    body: FinishAnswerBody,
    response: buildResponseSchemas(FinishAnswerResponse),
  },
};
