import { PortalError } from "@relicario/shared/errors";

/**
 * Logs a failed step to the console: its name and an error code, never a message, which could quote
 * a token or the person's text.
 */
export function warn(step: string, error: unknown): void {
  // oxlint-disable-next-line no-console -- the one place where the host writes to the console
  console.warn(
    step,
    typeof error === "string"
      ? error
      : error instanceof PortalError
        ? error.code
        : error instanceof Error
          ? error.name
          : "",
  );
}
