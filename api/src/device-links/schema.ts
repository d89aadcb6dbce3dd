import {
  AnswerDeviceLinkBody,
  DeviceLink,
  DeviceLinkAnswer,
  FillDeviceLinkResponse,
  DeviceLinkId,
  FillDeviceLinkBody,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

const params = z.strictObject({ id: DeviceLinkId });

export const deviceLinkSchemas = {
  fill: {
    summary: "What a new device asks another one of its account for; the mailbox lasts 5 minutes and is filled once",
    params,
    body: FillDeviceLinkBody,
    response: buildResponseSchemas(FillDeviceLinkResponse),
  },
  read: {
    summary: "What was asked for, for another session of the account",
    params,
    response: buildResponseSchemas(DeviceLink),
  },
  answer: {
    summary: "Answers it, once, from another session",
    params,
    body: AnswerDeviceLinkBody,
    response: buildResponseSchemas(FillDeviceLinkResponse),
  },
  readAnswer: {
    summary: "The answer, for the session that asked; null while there is none",
    params,
    response: buildResponseSchemas(DeviceLinkAnswer),
  },
};
