import { maxTitleLength } from "@relicario/shared/api";
import type { PortalHandover } from "@relicario/shared/contract";
import { z } from "zod";

/** What another application hands over: docs/handing-over.md. */
const HandoverMessage = z.strictObject({
  relicario: z.literal("secret"),
  name: z.string().max(maxTitleLength),
  text: z.string().min(1).max(65_536),
});
export type HandedOverSecret = Pick<z.infer<typeof HandoverMessage>, "name" | "text">;

export type HandoverOutcome =
  | { readonly kind: "received"; readonly secret: HandedOverSecret }
  | { readonly kind: "blocked" | "nothing" | "invalid" };

/** Milliseconds between looks whether the application's window was closed. */
const closedCheckMs = 500;

type Opener = Pick<Window, "open" | "addEventListener" | "removeEventListener" | "setInterval" | "clearInterval">;

/**
 * Opens the page of another application, and takes one message from that window and the origin of
 * its address. Then closes the window. Call it from a click.
 *
 * @returns `nothing` if the window was closed, or its page cut itself off from the portal
 */
export function receiveHandover({ url }: PortalHandover, signal: AbortSignal, page: Opener = window) {
  return new Promise<HandoverOutcome>((resolve) => {
    const { origin } = new URL(url);
    const applicationWindow = page.open(url, "_blank", "popup,width=480,height=640");
    if (applicationWindow === null) {
      resolve({ kind: "blocked" });
      return;
    }
    const end = (outcome: HandoverOutcome): void => {
      page.removeEventListener("message", handleMessage);
      page.clearInterval(closedCheck);
      applicationWindow.close();
      resolve(outcome);
    };
    const handleMessage = (event: MessageEvent): void => {
      if (event.source !== applicationWindow || event.origin !== origin) return;
      const { success, data } = HandoverMessage.safeParse(event.data);
      end(success ? { kind: "received", secret: { name: data.name, text: data.text } } : { kind: "invalid" });
    };
    const closedCheck = page.setInterval(() => {
      if (applicationWindow.closed) end({ kind: "nothing" });
    }, closedCheckMs);
    page.addEventListener("message", handleMessage);
    signal.addEventListener("abort", () => {
      end({ kind: "nothing" });
    });
  });
}
