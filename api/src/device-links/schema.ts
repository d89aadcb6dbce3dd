import {
  AnswerDeviceLink,
  DeviceLink,
  DeviceLinkAnswer,
  DeviceLinkFilled,
  DeviceLinkId,
  FillDeviceLink,
} from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

const params = z.strictObject({ id: DeviceLinkId });

export const deviceLinkSchemas = {
  fill: {
    summary: "What a new device asks another one of its account for; the mailbox lasts 5 minutes and is filled once",
    params,
    body: FillDeviceLink,
    response: answers(DeviceLinkFilled),
  },
  read: { summary: "What was asked for, for another session of the account", params, response: answers(DeviceLink) },
  answer: {
    summary: "Answers it, once, from another session",
    params,
    body: AnswerDeviceLink,
    response: answers(DeviceLinkFilled),
  },
  readAnswer: {
    summary: "The answer, for the session that asked; null while there is none",
    params,
    response: answers(DeviceLinkAnswer),
  },
};
