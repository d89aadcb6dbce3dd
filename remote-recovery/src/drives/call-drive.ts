import { PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import { z } from "zod";

import { deleteToken } from "./drive-memory.ts";
import type { DriveCallOptions } from "./drive.ts";

export interface DriveRequest extends Omit<RequestInit, "signal"> {
  readonly signal: AbortSignal;
  /** Absent for URLs that grant access themselves, such as upload sessions. */
  readonly token?: string;
  /** Error statuses that do not throw. */
  readonly acceptedStatuses?: readonly number[];
}

/** Reasons in an error's body: Google uses `errors[].reason`, Graph uses `code`. */
const DriveErrorBody = z.object({
  error: z.looseObject({ code: z.unknown(), errors: z.array(z.looseObject({ reason: z.string() })).optional() }),
});
const quotaReasons: ReadonlySet<string> = new Set([
  "storageQuotaExceeded",
  "teamDriveFileLimitExceeded",
  "quotaLimitReached",
  "insufficientStorage",
]);

/** Calls a drive without cookies. Errors contain neither URL nor body. */
export async function callDrive(
  url: string,
  { token, acceptedStatuses = [], headers, ...options }: DriveRequest,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, {
      ...options,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
  } catch (error) {
    throw toConnectionError(error);
  }
  if (response.ok || acceptedStatuses.includes(response.status)) return response;
  if (response.status === 401 && token !== undefined) deleteToken(token);
  throw new PortalError(await getErrorCode(response));
}

export async function readJson<Schema extends z.ZodType>(response: Response, schema: Schema): Promise<z.infer<Schema>> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw toConnectionError(error);
  }
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw new PortalError("bad_answer");
  return parsed.data;
}

/**
 * Reads the body chunk by chunk; fails as soon as it exceeds `maxBytes`.
 * @throws PortalError `payload_too_large`
 */
export async function readFile(
  response: Response,
  { name, size, maxBytes }: { readonly name: string; readonly size: number; readonly maxBytes: number },
  { onProgress }: Pick<DriveCallOptions, "onProgress">,
): Promise<File> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let receivedBytes = 0;
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk?.value === undefined) break;
      receivedBytes += chunk.value.length;
      if (receivedBytes > maxBytes) throw new PortalError("payload_too_large");
      chunks.push(chunk.value);
      onProgress({ done: receivedBytes, total: Math.max(size, receivedBytes) });
    }
  } catch (error) {
    await reader?.cancel().catch(() => undefined); // the connection ends either way
    throw toConnectionError(error);
  }
  return new File(chunks, name, { type: response.headers.get("content-type") ?? "" });
}

/** Undefined for invalid JSON, which no schema accepts. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toConnectionError(error: unknown): PortalError {
  const portalError = toPortalError(error);
  if (portalError.code !== "unknown") return portalError;
  return new PortalError(navigator.onLine ? "service_unavailable" : "offline");
}

async function getErrorCode(response: Response): Promise<ErrorCode> {
  const { status } = response;
  const body = DriveErrorBody.safeParse(await response.json().catch(() => undefined));
  const reasons = body.success
    ? [body.data.error.code, ...(body.data.error.errors ?? []).map(({ reason }) => reason)]
    : [];
  if (status === 507 || reasons.some((reason) => typeof reason === "string" && quotaReasons.has(reason)))
    return "quota_exceeded";
  if (status === 401) return "login_required";
  if (status === 403) return "forbidden";
  if (status === 404 || status === 410) return "not_found";
  if (status === 413) return "payload_too_large";
  return status === 429 || status >= 500 ? "service_unavailable" : "bad_answer";
}
