import { DeviceLink, DeviceLinkAnswer, FillDeviceLinkResponse } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";

/**
 * The mailbox between two devices, by the id that follows from the code. What is put in twice, byte
 * for byte, counts once.
 */
export interface DeviceLinkCalls {
  /** `id_taken`. */
  readonly fill: (id: string, message: string) => Promise<unknown>;
  /**
   * `not_found` when there is none, or its time is over; `forbidden` for the sign-in that filled
   * it.
   */
  readonly read: (id: string, signal?: AbortSignal) => Promise<string>;
  /** As {@link read}, and `conflict` when another answer is there. */
  readonly answer: (id: string, answer: string) => Promise<unknown>;
  /** Null while there is none. `not_found` when its time is over. */
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
