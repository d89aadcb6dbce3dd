import type { Drives } from "@relicario/shared/contract";

/** Headers of every response of the portal's origin. */
export function buildCommonHeaders(
  origin: string,
  resourcePolicy: "same-origin" | "same-site" = "same-origin",
): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": resourcePolicy,
    ...(origin.startsWith("https:") && { "strict-transport-security": "max-age=31536000; includeSubDomains" }),
  };
}

/** Permissions of no document. What an element copied is not for script of the page to read. */
const refusedPermissions = Object.fromEntries(
  [
    "clipboard-read",
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
);

/**
 * Header of a document: scripts without integrity are not even fetched.
 * https://w3c.github.io/webappsec-subresource-integrity/#integrity-policy-section
 */
export const integrityPolicy = { "integrity-policy": "blocked-destinations=(script)" } as const;

/**
 * @param vaultOrigin whose elements use passkeys and the clipboard inside the page
 * @param camera only windows of the vault's origin have it
 */
function buildPermissionsPolicy({
  vaultOrigin,
  camera = "()",
}: { readonly vaultOrigin?: string | undefined; readonly camera?: "()" | "(self)" } = {}): Readonly<
  Record<string, string>
> {
  const passedOn = vaultOrigin === undefined ? "(self)" : `(self "${vaultOrigin}")`;
  const all = {
    ...refusedPermissions,
    camera,
    "clipboard-write": passedOn,
    "publickey-credentials-create": passedOn,
    "publickey-credentials-get": passedOn,
  };
  return {
    "permissions-policy": Object.entries(all)
      .map(([name, allowlist]) => `${name}=${allowlist}`)
      .join(", "),
  };
}

export function buildPageHeaders(policy: string, vaultOrigin?: string): Readonly<Record<string, string>> {
  return {
    ...buildBasePageHeaders(policy),
    ...buildPermissionsPolicy({ vaultOrigin }),
    ...integrityPolicy,
    // A sign-in in a popup must be able to answer.
    "cross-origin-opener-policy": "same-origin-allow-popups",
  };
}

/**
 * Headers of a page that ends a sign-in: an opener policy would cut it off from the page that
 * opened it.
 */
export function buildBasePageHeaders(policy: string): Readonly<Record<string, string>> {
  return { "content-security-policy": policy, ...buildPermissionsPolicy() };
}

/** Sources of code are never configured: the code folders of this origin. */
export function buildHostPolicy({
  nonce,
  origin,
  vaultOrigin,
  identityOrigin,
  apiBase,
  drives = {},
}: {
  nonce: string;
  origin: string;
  vaultOrigin: string;
  identityOrigin: string;
  apiBase: string;
  drives?: Drives;
}): string {
  return formatPolicy({
    "default-src": "'none'",
    "script-src": `${origin}/static/ ${origin}/r/ 'nonce-${nonce}'`,
    // a remote's style has the nonce and its signed hash from its loader
    "style-src": `${origin}/static/ 'nonce-${nonce}'`,
    "font-src": "'self'",
    "img-src": "'self' data: blob:",
    "connect-src": [...new Set(["'self'", identityOrigin, getOrigin(apiBase), ...listDriveOrigins(drives)])].join(" "),
    // silent renewal starts at the provider and ends in a page of ours
    "frame-src": `'self' ${identityOrigin} ${vaultOrigin}`,
    "worker-src": "'none'", // the vault's are of its own origin
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": `'self' ${identityOrigin}`,
    "frame-ancestors": "'none'",
    ...buildScriptPolicy(apiBase),
  });
}

export interface VaultOriginSettings {
  readonly vaultOrigin: string;
  /** The only origins that may frame the vault. */
  readonly portalOrigins: readonly string[];
  readonly identityOrigin: string;
  /** The service's base URL at the vault's origin. */
  readonly apiBase: string;
}

/**
 * Builds the policy of a document or worker of the vault's origin. Only an element, a document that
 * people see, has styles, fonts, pictures, and connections to the deployment's cloud drives.
 */
export type VaultPolicy = (element: ElementPolicy | null) => string;

interface ElementPolicy {
  readonly nonce: string;
  /** From which pictures come and to which they go. */
  readonly drives: Drives;
}

export function createVaultPolicy({ portalOrigins, identityOrigin, apiBase }: VaultOriginSettings): VaultPolicy {
  return (element) =>
    formatPolicy({
      "default-src": "'none'",
      "script-src": "'self' 'wasm-unsafe-eval'",
      "worker-src": "'self'",
      // the controller redeems the code of its own sign-in, an element reads and writes drives
      "connect-src": [
        "'self'",
        ...new Set(element === null ? [identityOrigin] : listDriveOrigins(element.drives)),
      ].join(" "),
      ...(element === null && { "frame-src": `'self' ${identityOrigin}` }), // a sign-in that asks nothing
      ...(element !== null && {
        "style-src": `'self' 'nonce-${element.nonce}'`,
        "font-src": "'self'",
        "img-src": "data: blob:",
      }),
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": ["'self'", ...portalOrigins].join(" "),
      ...buildScriptPolicy(apiBase),
    });
}

/**
 * Headers of every response of the vault's origin, where nothing but the vault runs. A worker has
 * the policy of the response with its script.
 */
export function buildVaultHeaders(settings: VaultOriginSettings): Readonly<Record<string, string>> {
  const { vaultOrigin, apiBase } = settings;
  return {
    ...buildCommonHeaders(vaultOrigin, "same-site"), // the portal frames its documents
    "content-security-policy": createVaultPolicy(settings)(null),
    ...buildPermissionsPolicy({ camera: "(self)" }),
    ...buildReportingHeaders(apiBase),
    "cross-origin-opener-policy": "unsafe-none", // its windows answer the frame that opened them
    "origin-agent-cluster": "?1", // its own process in Chromium
  };
}

/** The first script of a document creates the only policy, which allows verified URLs alone. */
function buildScriptPolicy(apiBase: string): Readonly<Record<string, string>> {
  return {
    "require-trusted-types-for": "'script'",
    "trusted-types": "default",
    ...(hasReportingApi(apiBase) ? { "report-to": reportGroup } : {}),
    "report-uri": buildCspReportUrl(apiBase), // for browsers without the Reporting API
  };
}

const reportGroup = "csp";

export function buildReportingHeaders(apiBase: string): Readonly<Record<string, string>> {
  if (!hasReportingApi(apiBase)) return {};
  return { "reporting-endpoints": `${reportGroup}="${buildCspReportUrl(apiBase)}"` };
}

/**
 * Chromium accepts https endpoints only, even on localhost, and ignores `report-uri` when there is
 * `report-to`.
 */
function hasReportingApi(apiBase: string): boolean {
  return apiBase.startsWith("https:");
}

function buildCspReportUrl(apiBase: string): string {
  return `${apiBase}/reports/csp`;
}

/** For the page that ends a silent renewal in a frame, or a sign-in in a popup. */
export const renewalPolicy = formatPolicy({
  "default-src": "'none'",
  "script-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'self'",
});

/**
 * For the popup page that ends the answer of a cloud drive. OneDrive's picker, which comes next,
 * takes its token by a form.
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

/** For any other document of this origin: it may do nothing. */
export const filePolicy = formatPolicy({
  "default-src": "'none'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
});

/**
 * For responses of upstreams, which are data and code: opened as a document, they have no origin
 * and may do nothing.
 */
export const upstreamResponsePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'";

function formatPolicy(directives: Readonly<Record<string, string>>): string {
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");
}
