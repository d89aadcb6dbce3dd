import type { PortalError } from "@relicario/shared/errors";

import type { TextKey } from "./texts.ts";

export function toErrorTextKey({ code, details }: PortalError): TextKey {
  switch (code) {
    case "not_this_picture":
    case "not_this_picture_or_passphrase":
    case "picture_unreadable":
    case "picture_too_large":
    case "digest_mismatch":
    case "decryption_failed":
      return `error_${code}`;
    case "validation_error":
      return details["reason"] === "newer" ? "error_newer" : "error_damaged";
    case "vault_unavailable":
      return "error_browser";
    default:
      return "error_unknown"; // opening a kit throws no other errors
  }
}
