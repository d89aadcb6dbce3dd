import { PortalError } from "@relicario/shared/errors";

/** For developers' eyes: a step and what failed, never a token or a text of the person. */
export function warn(step: string, error: unknown): void {
  // eslint-disable-next-line no-console -- the one place where the host writes to the console
  console.warn(step, typeof error === "string" ? error : error instanceof PortalError ? error.code : error instanceof Error ? error.name : "");
}
