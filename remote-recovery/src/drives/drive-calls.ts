import { PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import { z } from "zod";

import { dropToken } from "./drive-memory.ts";
import type { DriveCallOptions } from "./drive.ts";

export interface DriveCall extends Omit<RequestInit, "signal"> {
  readonly signal: AbortSignal;
  /** Left out for addresses that are a permission in themselves. */
  readonly token?: string;
  /** Statuses that are answers, too. */
  readonly also?: readonly number[];
}

/** Both providers say in an error's body why; Google in `errors[].reason`, Graph in `code`. */
const Refusal = z.object({
  error: z.looseObject({ code: z.unknown(), errors: z.array(z.looseObject({ reason: z.string() })).optional() }),
});
const full: ReadonlySet<string> = new Set([
  "storageQuotaExceeded",
  "teamDriveFileLimitExceeded",
  "quotaLimitReached",
  "insufficientStorage",
]);

/** One call to a drive. No cookie goes with it, and its address and body stay out of errors. */
export async function callDrive(address: string, { token, also = [], headers, ...init }: DriveCall): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, {
      ...init,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
  } catch (error) {
    throw lostConnection(error);
  }
  if (response.ok || also.includes(response.status)) return response;
  if (response.status === 401 && token !== undefined) dropToken(token);
  throw new PortalError(await codeOf(response));
}

export async function readJson<Schema extends z.ZodType>(response: Response, schema: Schema): Promise<z.infer<Schema>> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw lostConnection(error);
  }
  const parsed = schema.safeParse(plainJson(text));
  if (!parsed.success) throw new PortalError("bad_answer");
  return parsed.data;
}

/**
 * The body as a file, read piece by piece. What turns out larger than announced is refused:
 * nobody's picture is that large.
 * @throws PortalError `payload_too_large`
 */
export async function readFile(
  response: Response,
  { name, size, most }: { readonly name: string; readonly size: number; readonly most: number },
  { onProgress }: Pick<DriveCallOptions, "onProgress">,
): Promise<File> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let done = 0;
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const piece = await reader?.read();
      if (piece?.value === undefined) break;
      done += piece.value.length;
      if (done > most) throw new PortalError("payload_too_large");
      pieces.push(piece.value);
      onProgress({ done, total: Math.max(size, done) });
    }
  } catch (error) {
    await reader?.cancel().catch(() => undefined); // the connection ends either way
    throw lostConnection(error);
  }
  return new File(pieces, name, { type: response.headers.get("content-type") ?? "" });
}

/** Undefined for what is no JSON: no schema takes it. */
function plainJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lostConnection(error: unknown): PortalError {
  const known = toPortalError(error);
  if (known.code !== "unknown") return known;
  return new PortalError(navigator.onLine ? "service_unavailable" : "offline");
}

async function codeOf(response: Response): Promise<ErrorCode> {
  const { status } = response;
  const body = Refusal.safeParse(await response.json().catch(() => undefined));
  const reasons = body.success
    ? [body.data.error.code, ...(body.data.error.errors ?? []).map(({ reason }) => reason)]
    : [];
  if (status === 507 || reasons.some((reason) => typeof reason === "string" && full.has(reason)))
    return "quota_exceeded";
  if (status === 401) return "login_required";
  if (status === 403) return "forbidden";
  if (status === 404 || status === 410) return "not_found";
  if (status === 413) return "payload_too_large";
  return status === 429 || status >= 500 ? "service_unavailable" : "bad_answer";
}
