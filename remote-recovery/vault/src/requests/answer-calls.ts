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

/** An answer that was begun, and what lets its parts in. */
export interface AnswerUpload {
  readonly answerId: string;
  readonly token: string;
}

/** The calls of whoever answers a request. None needs an account. */
export interface AnswerCalls {
  /** `request_unavailable`. Costs nothing. */
  readonly inspect: (requestId: string, linkAuth: string, signal?: AbortSignal) => Promise<RequestOffer>;
  /**
   * `request_closed`, `request_unavailable`, `payload_too_large`, `quota_exceeded`: there is no
   * room where it should go.
   */
  readonly start: (
    body: z.infer<typeof StartAnswerBody>,
    signal?: AbortSignal,
  ) => Promise<z.infer<typeof StartAnswerResponse>>;
  /**
   * `upload_dropped` when the service does not know it, here and in the next two; `request_closed`
   * when another one was first.
   */
  readonly state: (upload: AnswerUpload, signal?: AbortSignal) => Promise<z.infer<typeof AnswerState>>;
  readonly part: (upload: AnswerUpload, fields: PartFields, data: Blob, signal?: AbortSignal) => Promise<void>;
  /** The same bytes answer as the first time. */
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

/** The request itself may still be answered: then it is begun anew. */
async function mapToUploadDropped<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw isPortalError(cause, "not_found", "request_unavailable")
      ? new PortalError("upload_dropped", { cause })
      : cause;
  }
}
