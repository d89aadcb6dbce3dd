import { describeStatus, type ErrorCode } from "@relicario/shared/errors";

/** Common to the reply types of routes, hooks and proxies. */
interface Reply {
  readonly code: (status: number) => Reply;
  readonly header: (name: string, value: string) => Reply;
  readonly type: (contentType: string) => Reply;
  readonly send: (payload: string) => Reply;
}

/** Sends a problem document (RFC 9457), as the service does. */
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

/** Sends a problem with the code and title of its status. */
export function sendStatus<ReplyType extends Reply>(reply: ReplyType, status: number): ReplyType {
  const { code, title } = describeStatus(status);
  return sendProblem(reply, status, code, title);
}
