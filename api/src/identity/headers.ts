import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";

interface SecurityPolicy {
  /** Scripts that stand in the page, word by word. Without any, no script runs. */
  readonly scripts?: readonly string[];
  /** Where forms may lead, redirects included: browsers hold a form to it up to the last hop. */
  readonly forms?: readonly string[];
  /** Who may frame the page. Without any, nobody. */
  readonly framedBy?: readonly string[];
}

/** Headers of everything that the provider answers. Later calls replace what earlier ones said. */
export function setSecurityHeaders(
  response: ServerResponse,
  { scripts = [], forms = [], framedBy = [] }: SecurityPolicy,
): void {
  const directives = [
    "default-src 'none'",
    // 'self' serves no script; it is there because the library adds the digest of its own to an
    // existing directive.
    `script-src ${scripts.length === 0 ? "'self'" : scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`).join(" ")}`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    `form-action 'self' ${forms.join(" ")}`.trim(),
    "base-uri 'none'",
    `frame-ancestors ${framedBy.length === 0 ? "'none'" : framedBy.join(" ")}`,
  ];
  response.setHeader("Content-Security-Policy", directives.join("; "));
  response.setHeader("X-Content-Type-Options", "nosniff");
  // Within the provider only, so that a form's POST says where it comes from.
  response.setHeader("Referrer-Policy", "same-origin");
  response.setHeader("Permissions-Policy", "camera=(), geolocation=(), microphone=()");
  if (framedBy.length === 0) response.setHeader("X-Frame-Options", "DENY");
  else response.removeHeader("X-Frame-Options");
}
