import type { Drives } from "@relicario/shared/contract";

/** Headers of every answer of the gateway, whoever made it. */
export function buildCommonHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    ...(origin.startsWith("https:") && { "strict-transport-security": "max-age=31536000; includeSubDomains" }),
  };
}

const permissions = {
  camera: "(self)",
  "clipboard-read": "(self)",
  "clipboard-write": "(self)",
  "publickey-credentials-create": "(self)",
  "publickey-credentials-get": "(self)",
  ...Object.fromEntries(
    [
      "accelerometer",
      "display-capture",
      "geolocation",
      "gyroscope",
      "magnetometer",
      "microphone",
      "midi",
      "payment",
      "serial",
      "usb",
      "hid",
    ].map((name) => [name, "()"]),
  ),
};

/** Headers of pages only. */
export function buildPageHeaders(policy: string): Readonly<Record<string, string>> {
  return {
    ...buildBasePageHeaders(policy),
    // A script without a hash is not even fetched.
    // https://w3c.github.io/webappsec-subresource-integrity/#integrity-policy-section
    "integrity-policy": "blocked-destinations=(script)",
    // A sign-in may open in a window of its own and must be able to answer.
    "cross-origin-opener-policy": "same-origin-allow-popups",
  };
}

/**
 * Headers of a page that a sign-in ends with: a policy for its opener would cut it from the page
 * that opened its window.
 */
export function buildBasePageHeaders(policy: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": policy,
    "permissions-policy": Object.entries(permissions)
      .map(([name, allowlist]) => `${name}=${allowlist}`)
      .join(", "),
  };
}

/**
 * What the host's page may do. Where code comes from is never configuration: the folders of code of
 * this origin, and blobs for workers.
 */
export function buildHostPolicy({
  nonce,
  origin,
  identityOrigin,
  apiBase,
  drives = {},
}: {
  nonce: string;
  origin: string;
  identityOrigin: string;
  apiBase: string;
  drives?: Drives;
}): string {
  return formatPolicy({
    "default-src": "'none'",
    "script-src": `${origin}/static/ ${origin}/r/ 'nonce-${nonce}' 'wasm-unsafe-eval'`,
    // one of a remote has the nonce, and its signed hash, from the way in which it is loaded
    "style-src": `${origin}/static/ 'nonce-${nonce}'`,
    "font-src": "'self'",
    "img-src": "'self' data: blob:",
    "connect-src": [...new Set(["'self'", identityOrigin, getOrigin(apiBase), ...listDriveOrigins(drives)])].join(" "),
    "frame-src": `'self' ${identityOrigin}`, // silent renewal begins at the provider and ends in a bare page of ours
    "worker-src": "blob:",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": `'self' ${identityOrigin}`,
    "frame-ancestors": "'none'",
    // One policy, which the host makes before anything else runs: scripts and workers have
    // addresses that it allows.
    "require-trusted-types-for": "'script'",
    "trusted-types": "default",
    ...(hasReportingApi(apiBase) ? { "report-to": reportGroup } : {}),
    "report-uri": buildCspReportUrl(apiBase), // for browsers without the Reporting API
  });
}

const reportGroup = "csp";

/** Where the host's page has its violations reported, by the Reporting API. */
export function buildReportingHeaders(apiBase: string): Readonly<Record<string, string>> {
  if (!hasReportingApi(apiBase)) return {};
  return { "reporting-endpoints": `${reportGroup}="${buildCspReportUrl(apiBase)}"` };
}

/**
 * Chromium takes endpoints by https alone, from localhost too, and with `report-to` it passes over
 * `report-uri`.
 */
function hasReportingApi(apiBase: string): boolean {
  return apiBase.startsWith("https:");
}

function buildCspReportUrl(apiBase: string): string {
  return `${apiBase}/reports/csp`;
}

/**
 * The bare page that ends a silent renewal, inside a frame of the host, or a sign-in in a window
 * beside it.
 */
export const renewalPolicy = formatPolicy({
  "default-src": "'none'",
  "script-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'self'",
});

/**
 * The bare page where the answer of a cloud drive ends, in a window of its own. From it a person
 * goes on to OneDrive's picker, which takes its token by a form.
 */
export function buildDriveAnswerPolicy({ onedrive }: Drives): string {
  return formatPolicy({
    "default-src": "'none'",
    "script-src": "'self'",
    "base-uri": "'none'",
    "form-action":
      onedrive === undefined ? "'none'" : [getOrigin(onedrive.picker_url), ...onedrive.content_origins].join(" "),
    "frame-ancestors": "'none'",
  });
}

/** What the page calls of the cloud drives that the deployment document names, and of no other. */
function listDriveOrigins({ google, onedrive }: Drives): readonly string[] {
  return [
    ...(google === undefined ? [] : [google.api_origin]),
    ...(onedrive === undefined
      ? []
      : [getOrigin(onedrive.authority), getOrigin(onedrive.graph_url), ...onedrive.content_origins]),
  ];
}

function getOrigin(address: string): string {
  return new URL(address).origin;
}

/** Any other document that somebody opens from here: it may do nothing. */
export const filePolicy = formatPolicy({
  "default-src": "'none'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
});

/**
 * What comes from behind the gateway is data and code of the page, never a document: as one it has
 * no origin and may do nothing.
 */
export const upstreamResponsePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'";

function formatPolicy(directives: Readonly<Record<string, string>>): string {
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}
