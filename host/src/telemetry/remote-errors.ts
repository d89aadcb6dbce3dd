import type { RemoteName } from "@relicario/shared/contract";
import { toPortalError, type ErrorCode } from "@relicario/shared/errors";

export interface RemoteErrorsDeps {
  readonly page: Pick<Window, "addEventListener">;
  /** Origin of the page, which is also that of the releases. */
  readonly origin: string;
  readonly onError: (remote: RemoteName, code: ErrorCode) => void;
}

/** Errors of one remote that a page reports. A timer may fail several times a second. */
export const maxRemoteErrors = 20;

/**
 * Reports errors that nothing caught, in handlers, timers and promises, to the remote whose release
 * has the innermost file of the stack. Where a remote calls another one's service, that is the
 * service's remote. React's error boundaries report errors of rendering.
 */
export function watchRemoteErrors({ page, origin, onError }: RemoteErrorsDeps): void {
  const counts = new Map<string, number>();
  const prefix = `${origin}/r/`;
  const report = (thrown: unknown, ...places: readonly string[]) => {
    const place = places.find((text) => text.includes(prefix));
    const remote = place?.slice(place.indexOf(prefix) + prefix.length).split("/", 1)[0];
    if (remote === undefined) return;
    const count = (counts.get(remote) ?? 0) + 1;
    counts.set(remote, count);
    const { code } = toPortalError(thrown);
    if (count > maxRemoteErrors || code === "cancelled") return;
    onError(remote, code === "unknown" ? "remote_crashed" : code);
  };
  page.addEventListener("error", ({ error, filename }) => {
    report(error, getStack(error), filename);
  });
  page.addEventListener("unhandledrejection", ({ reason }) => {
    report(reason, getStack(reason));
  });
}

function getStack(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? "") : "";
}
