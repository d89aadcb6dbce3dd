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
    summary: "Writes a new device's message to another one of its account, once; the device link lasts 5 minutes",
    params,
    body: FillDeviceLinkBody,
    response: buildResponseSchemas(FillDeviceLinkResponse),
  },
  read: {
    summary: "The message, for another sign-in of the account",
    params,
    response: buildResponseSchemas(DeviceLink),
  },
  answer: {
    summary: "Writes the answer, once, from another sign-in",
    params,
    body: AnswerDeviceLinkBody,
    response: buildResponseSchemas(FillDeviceLinkResponse),
  },
  readAnswer: {
    summary: "The answer, for the sign-in that wrote the message; null before",
    params,
    response: buildResponseSchemas(DeviceLinkAnswer),
  },
};
