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
    summary: "Creates a request for a secret",
    body: CreateRequestBody,
    response: buildResponseSchemas(RequestWriteResponse),
  },
  list: {
    summary: "The account's requests; with get_expired also ended ones",
    querystring: ShareListQuery,
    response: buildResponseSchemas(RequestList),
  },
  drop: {
    summary: "Revokes a request, or drops its collected answer",
    params,
    body: DropRequestBody,
    response: buildResponseSchemas(RequestWriteResponse),
  },
  markCollected: {
    summary: "Marks an answer as collected: its content is dropped 7 days later",
    params,
    body: MarkCollectedBody,
    response: buildResponseSchemas(RequestWriteResponse),
  },
  collectAnswer: {
    summary: "Ticket and download of the answer; read-only",
    body: CollectAnswerBody,
    response: buildResponseSchemas(CollectAnswerResponse),
  },
  readOffer: {
    summary: "The request, for the holder of its link; changes nothing",
    body: GetRequestBody,
    response: buildResponseSchemas(RequestOffer),
  },
  startAnswer: {
    summary: "Starts an answer",
    body: StartAnswerBody,
    response: buildResponseSchemas(StartAnswerResponse),
  },
  receivePart: {
    summary: "One part of an answer: the fields part and sha256, then the file data; idempotent",
    consumes: ["multipart/form-data"],
    params: answerParams,
    body: PartFields.extend({ data: z.string().meta({ format: "binary" }) }),
    response: buildResponseSchemas(ReceivedPart),
  },
  readAnswerState: {
    summary: "Received parts of an answer",
    params: answerParams,
    response: buildResponseSchemas(AnswerState),
  },
  finishAnswer: {
    summary: "Answers the request with all parts; the first finish wins",
    params: answerParams,
    body: FinishAnswerBody,
    response: buildResponseSchemas(FinishAnswerResponse),
  },
};
