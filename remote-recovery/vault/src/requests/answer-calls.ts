import {
  FinishAnswerResponse,
  answerPath,
  StartAnswerResponse,
  AnswerState,
  answerTokenHeader,
  type FinishAnswerBody,
  buildPartForm,
  type PartFields,
  ReceivedPart,
  RequestOffer,
  type StartAnswerBody,
} from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

/** A started answer, and the token that authorises its parts. */
export interface AnswerUpload {
  readonly answerId: string;
  readonly token: string;
}

/** The calls of an answer's sender. They need no account. */
export interface AnswerCalls {
  /** Has no side effects. Rejects with `request_unavailable`. */
  readonly inspect: (requestId: string, linkAuth: string, signal?: AbortSignal) => Promise<RequestOffer>;
  /**
   * Rejects with `request_closed`, `request_unavailable`, `payload_too_large`, or `quota_exceeded`
   * if the requester has no space left.
   */
  readonly start: (
    body: z.infer<typeof StartAnswerBody>,
    signal?: AbortSignal,
  ) => Promise<z.infer<typeof StartAnswerResponse>>;
  /**
   * Rejects with `upload_dropped` if the service does not know the answer, like the next two calls,
   * and with `request_closed` if another answer was first.
   */
  readonly state: (upload: AnswerUpload, signal?: AbortSignal) => Promise<z.infer<typeof AnswerState>>;
  readonly part: (upload: AnswerUpload, fields: PartFields, data: Blob, signal?: AbortSignal) => Promise<void>;
  /** Can be repeated with the same body. */
  readonly finish: (
    upload: AnswerUpload,
    body: z.infer<typeof FinishAnswerBody>,
    signal?: AbortSignal,
  ) => Promise<void>;
}

export function createAnswerCalls(http: HttpClient): AnswerCalls {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  const tokenHeader = ({ token }: AnswerUpload): { readonly headers: Record<string, string> } => ({
    headers: { [answerTokenHeader]: token },
  });
  return {
    inspect: (requestId, linkAuth, signal) =>
      http.request("POST", "/requests/get", RequestOffer, {
        body: { request_id: requestId, link_auth: linkAuth },
        ...signalOption(signal),
      }),
    start: (body, signal) =>
      http.request("POST", "/requests/answer", StartAnswerResponse, { body, ...signalOption(signal) }),
    state: (upload, signal) =>
      mapToUploadDropped(
        http.request("GET", answerPath(upload.answerId), AnswerState, {
          ...tokenHeader(upload),
          ...signalOption(signal),
        }),
      ),
    part: async (upload, fields, data, signal) => {
      await mapToUploadDropped(
        http.request("POST", answerPath(upload.answerId), ReceivedPart, {
          body: buildPartForm(fields, data),
          ...tokenHeader(upload),
          ...signalOption(signal),
        }),
      );
    },
    finish: async (upload, body, signal) => {
      await mapToUploadDropped(
        http.request("PUT", answerPath(upload.answerId), FinishAnswerResponse, {
          body,
          ...tokenHeader(upload),
          ...signalOption(signal),
        }),
      );
    },
  };
}

/** The caller then starts the answer again if its request is still open. */
async function mapToUploadDropped<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw isPortalError(cause, "not_found", "request_unavailable")
      ? new PortalError("upload_dropped", { cause })
      : cause;
  }
}
