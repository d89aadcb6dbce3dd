import { DeviceLink, DeviceLinkAnswer, FillDeviceLinkResponse } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";

/**
 * Calls for the mailbox between two devices, whose id is derived from the code. Sending the same
 * bytes again has no effect.
 */
export interface DeviceLinkCalls {
  /** Throws `id_taken`. */
  readonly fill: (id: string, message: string) => Promise<unknown>;
  /**
   * Throws `not_found` if missing or expired, `forbidden` for the sign-in that filled the mailbox.
   */
  readonly read: (id: string, signal?: AbortSignal) => Promise<string>;
  /** Throws the errors of {@link read}, and `conflict` if there is another answer. */
  readonly answer: (id: string, answer: string) => Promise<unknown>;
  /** Returns null until there is an answer. Throws `not_found` if the mailbox has expired. */
  readonly readAnswer: (id: string, signal?: AbortSignal) => Promise<string | null>;
}

export function createDeviceLinkCalls(http: HttpClient): DeviceLinkCalls {
  const signalOption = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
    signal === undefined ? {} : { signal };
  return {
    fill: (id, message) => http.request("PUT", `/device-links/${id}`, FillDeviceLinkResponse, { body: { message } }),
    read: async (id, signal) =>
      (await http.request("GET", `/device-links/${id}`, DeviceLink, signalOption(signal))).message,
    answer: (id, answer) =>
      http.request("PUT", `/device-links/${id}/answer`, FillDeviceLinkResponse, { body: { answer } }),
    readAnswer: async (id, signal) =>
      (await http.request("GET", `/device-links/${id}/answer`, DeviceLinkAnswer, signalOption(signal))).answer,
  };
}
