import {
  AnswerFinished,
  answerPath,
  AnswerStarted,
  AnswerState,
  answerTokenHeader,
  type FinishAnswer,
  formOfPart,
  type PartFields,
  ReceivedPart,
  RequestOffer,
  type StartAnswer,
} from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

/** An answer that was begun, and what lets its parts in. */
export interface AnswerPlace {
  readonly answerId: string;
  readonly token: string;
}

/** The calls of whoever answers a request. None needs an account. */
export interface AnswerCalls {
  /** `request_unavailable`. Costs nothing. */
  readonly look: (requestId: string, linkAuth: string, signal?: AbortSignal) => Promise<RequestOffer>;
  /**
   * `request_closed`, `request_unavailable`, `payload_too_large`, `quota_exceeded`: there is no
   * room where it should go.
   */
  readonly start: (body: z.infer<typeof StartAnswer>, signal?: AbortSignal) => Promise<z.infer<typeof AnswerStarted>>;
  /**
   * `upload_dropped` when the service does not know it, here and in the next two; `request_closed`
   * when another one was first.
   */
  readonly state: (place: AnswerPlace, signal?: AbortSignal) => Promise<z.infer<typeof AnswerState>>;
  readonly part: (place: AnswerPlace, fields: PartFields, data: Blob, signal?: AbortSignal) => Promise<void>;
  /** The same bytes answer as the first time. */
  readonly finish: (place: AnswerPlace, body: z.infer<typeof FinishAnswer>, signal?: AbortSignal) => Promise<void>;
}

export function answerCallsOn(http: Http): AnswerCalls {
  const bySignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  const by = ({ token }: AnswerPlace): { readonly headers: Record<string, string> } => ({
    headers: { [answerTokenHeader]: token },
  });
  return {
    look: (requestId, linkAuth, signal) =>
      http.request("POST", "/requests/get", RequestOffer, {
        body: { request_id: requestId, link_auth: linkAuth },
        ...bySignal(signal),
      }),
    start: (body, signal) => http.request("POST", "/requests/answer", AnswerStarted, { body, ...bySignal(signal) }),
    state: (place, signal) =>
      sayDropped(http.request("GET", answerPath(place.answerId), AnswerState, { ...by(place), ...bySignal(signal) })),
    part: async (place, fields, data, signal) => {
      await sayDropped(
        http.request("POST", answerPath(place.answerId), ReceivedPart, {
          body: formOfPart(fields, data),
          ...by(place),
          ...bySignal(signal),
        }),
      );
    },
    finish: async (place, body, signal) => {
      await sayDropped(
        http.request("PUT", answerPath(place.answerId), AnswerFinished, { body, ...by(place), ...bySignal(signal) }),
      );
    },
  };
}

/** The request itself may still be answered: then it is begun anew. */
async function sayDropped<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw isPortalError(cause, "not_found", "request_unavailable")
      ? new PortalError("upload_dropped", { cause })
      : cause;
  }
}
