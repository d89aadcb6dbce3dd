import {
  AnswerCollected,
  AnswerFinished,
  AnswerStarted,
  AnswerState,
  CollectAnswer,
  CollectedRequest,
  CreateRequest,
  DropRequest,
  FinishAnswer,
  GetRequest,
  Id,
  PartFields,
  ReceivedPart,
  RequestId,
  RequestList,
  RequestOffer,
  RequestStored,
  ShareListQuery,
  StartAnswer,
} from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

const params = z.strictObject({ request_id: RequestId });
const ofAnswer = z.strictObject({ answer_id: Id });

export const requestSchemas = {
  create: { summary: "Asks somebody for a secret", body: CreateRequest, response: answers(RequestStored) },
  list: {
    summary: "What this account asked for; with get_expired what is over, too",
    querystring: ShareListQuery,
    response: answers(RequestList),
  },
  drop: {
    summary: "Ends a request, or drops what came and was collected",
    params,
    body: DropRequest,
    response: answers(RequestStored),
  },
  collected: {
    summary: "Says that an answer was collected: its content goes 7 days later",
    params,
    body: CollectedRequest,
    response: answers(RequestStored),
  },
  collect: {
    summary: "Ticket and download of what came; only reads",
    body: CollectAnswer,
    response: answers(AnswerCollected),
  },
  get: {
    summary: "What is asked for, for whoever has the link; costs nothing",
    body: GetRequest,
    response: answers(RequestOffer),
  },
  start: { summary: "Begins an answer", body: StartAnswer, response: answers(AnswerStarted) },
  part: {
    summary:
      "One part of an answer: the fields part and sha256, then the file data; the same one again is the same as once",
    consumes: ["multipart/form-data"],
    params: ofAnswer,
    body: PartFields.extend({ data: z.string().meta({ format: "binary" }) }),
    response: answers(ReceivedPart),
  },
  state: { summary: "Which parts of an answer are there", params: ofAnswer, response: answers(AnswerState) },
  finish: {
    summary: "Answers the request with all parts; the first finish wins",
    params: ofAnswer,
    body: FinishAnswer,
    response: answers(AnswerFinished),
  },
};
