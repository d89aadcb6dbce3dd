import { isPortalError, toPortalError } from "@relicario/shared/errors";

/** @param detachedContentName file next to the kit that may contain the content */
export function describeError(error: unknown, detachedContentName: string | null = null): string {
  const { code, details } = toPortalError(error);
  const path = typeof details["path"] === "string" ? details["path"] : "";
  switch (code) {
    case "not_this_picture":
      return "This is not the picture of this kit. A copy opens it, another shot of the same scene does not.";
    case "not_this_picture_or_passphrase":
      return "This is not the picture of this kit, or not its passphrase.";
    case "picture_unreadable":
      return "This file cannot be read as a picture. JPEG, PNG, WebP, AVIF and HEIC are read.";
    case "picture_too_large":
      return "This picture is too large. A smaller copy opens the kit too.";
    case "decryption_failed":
      return "This was changed or is damaged, and does not open.";
    case "digest_mismatch":
      return `${detachedContentName ?? "This file"} is not the file that belongs to this secret, or it was changed.`;
    case "cancelled":
      return "Nothing was opened.";
    case "not_found":
      return `There is no file ${path}.`;
    case "storage_full":
      return "There is no room for it, or the folder cannot be written to.";
    case "validation_error":
      return validationMessages[String(details["reason"])] ?? validationMessages["not_a_kit"] ?? "";
    default:
      // an error outside this program: the system's message is the most helpful
      return error instanceof Error && !isPortalError(error) ? error.message : `It did not work (${code}).`;
  }
}

const validationMessages: Readonly<Record<string, string>> = {
  not_a_kit: "This file is no kit.",
  damaged: "This kit was changed or is damaged. Take another copy of the file.",
  newer: "This kit was made in a later format than this program knows.",
  too_large: "This file is too large to be read.",
  no_terminal: "There is no terminal to type a passphrase at: pass it with --passphrase-stdin.",
};
