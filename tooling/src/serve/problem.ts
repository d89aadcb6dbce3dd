import type { ErrorCode } from "@relicario/shared/errors";

/**
 * The part of a reply that is needed here: those of routes, hooks and proxies all have it, under
 * types of their own.
 */
interface Reply {
  readonly code: (status: number) => Reply;
  readonly header: (name: string, value: string) => Reply;
  readonly type: (contentType: string) => Reply;
  readonly send: (payload: string) => Reply;
}

/** Answers with a problem document (RFC 9457), as the service does. */
export function sendProblem<ReplyType extends Reply>(
  reply: ReplyType,
  status: number,
  code: ErrorCode,
  title: string,
): ReplyType {
  void reply
    .code(status)
    .header("cache-control", "no-store")
    .type("application/problem+json")
    .send(JSON.stringify({ type: "about:blank", title, status, code }));
  return reply;
}
