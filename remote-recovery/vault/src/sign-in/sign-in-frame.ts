import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/** Milliseconds until a provider that does not answer counts as failed. */
const timeLimitMilliseconds = 10_000;

/** What `/signed-in` of this origin posts to the frame's parent. */
const SignedInMessage = z.strictObject({ relicario: z.literal("signed-in"), answer: z.string() });

/**
 * Loads the provider's address in a hidden frame, and returns the query with which the provider
 * came back to `/signed-in`.
 *
 * @throws PortalError `timed_out`, also for a provider that shows a page instead
 */
export function openSignInFrame(address: string, page: Window = window): Promise<string> {
  const frame = page.document.createElement("iframe");
  frame.hidden = true;
  frame.src = address;
  const stop = new AbortController();
  const answer = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new PortalError("timed_out"));
    }, timeLimitMilliseconds);
    stop.signal.addEventListener("abort", () => {
      clearTimeout(timer);
    });
    page.addEventListener(
      "message",
      ({ data, origin, source }: MessageEvent<unknown>) => {
        const message = SignedInMessage.safeParse(data);
        if (source === frame.contentWindow && origin === page.location.origin && message.success)
          resolve(message.data.answer);
      },
      { signal: stop.signal },
    );
  });
  page.document.body.append(frame);
  return answer.finally(() => {
    stop.abort();
    frame.remove();
  });
}
