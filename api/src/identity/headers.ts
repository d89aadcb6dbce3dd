import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";

interface SecurityPolicy {
  /** Source of inline scripts that may run; none by default. */
  readonly inlineScripts?: readonly string[];
  /** Where forms may submit to, redirects included: browsers check every hop. */
  readonly formTargets?: readonly string[];
  /** Who may frame the page; no one by default. */
  readonly frameAncestors?: readonly string[];
}

/** Sets headers of every response. A later call replaces those of an earlier one. */
export function setSecurityHeaders(
  response: ServerResponse,
  { inlineScripts = [], formTargets = [], frameAncestors = [] }: SecurityPolicy,
): void {
  const directives = [
    "default-src 'none'",
    // 'self' matches no script of this server. The library appends its script's digest to an
    // existing directive.
    `script-src ${inlineScripts.length === 0 ? "'self'" : inlineScripts.map((script) => `'sha256-${hash("sha256", script, "base64")}'`).join(" ")}`,
    "style-src 'self'",
    `form-action 'self' ${formTargets.join(" ")}`.trim(),
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
  ];
  response.setHeader("Content-Security-Policy", directives.join("; "));
  response.setHeader("X-Content-Type-Options", "nosniff");
  // So that a form's POST carries its origin.
  response.setHeader("Referrer-Policy", "same-origin");
  response.setHeader("Permissions-Policy", "camera=(), geolocation=(), microphone=()");
  if (frameAncestors.length === 0) response.setHeader("X-Frame-Options", "DENY");
  else response.removeHeader("X-Frame-Options");
}
