import { z } from "zod";

import { Origin, SecureUrl } from "./addresses.ts";
import { Drives } from "./drives.ts";
import { RemoteManifest, RemoteName } from "./manifest.ts";
import { VendorId } from "./vendor-id.ts";

/** Subresource integrity of a file: `sha384-` and 64 characters of base64. */
export const Integrity = z.string().regex(/^sha384-[A-Za-z0-9+/]{64}$/);

/**
 * Id of a release: `<remote>-<version>-<first 12 hex digits of the SHA-256 of its file list>`. The
 * same sources give the same id.
 */
export const ReleaseId = z.string().regex(/^[a-z][a-z0-9]{0,31}-[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{12}$/);

/** Public Ed25519 key (JWK), as in the host's page and in the tools' files. */
export const VerificationKey = z.strictObject({
  kid: z.string().min(1),
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string().length(43),
});
export type VerificationKey = z.infer<typeof VerificationKey>;

/**
 * Metadata of Module Federation's manifest. Restricted so that code loads only from the release's
 * own folder.
 */
const FederationMetadata = z.object({
  publicPath: z.literal("auto").optional(),
  getPublicPath: z.undefined().optional(),
  remoteEntry: z.object({ name: z.literal("remoteEntry.js"), path: z.literal("") }).optional(),
});

/**
 * Payload of `release.json`, which describes an immutable folder of files. Signed by the remote's
 * team (JWS compact, EdDSA).
 */
export const ReleaseRecord = z.strictObject({
  v: z.literal(1),
  release: ReleaseId,
  version: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+$/),
  /** The remote's `manifest.json`, which is also among the files. */
  manifest: RemoteManifest,
  /** Integrity of each file, by its path in the folder. */
  files: z.record(z.string().regex(/^[A-Za-z0-9@._-]+(\/[A-Za-z0-9@._-]+)*$/), Integrity),
  /**
   * What the host reads of Module Federation's manifest. Not more, because each deployment document
   * contains all records. `exposes` lists the first scripts of the only exposed module, `shared`
   * the shared packages that the code requires, with version ranges.
   */
  federation: z.object({
    id: z.string(),
    name: z.string(),
    metaData: FederationMetadata.optional(),
    exposes: z.array(z.object({ assets: z.object({ js: z.object({ sync: z.array(z.string()) }) }) })).optional(),
    shared: z.array(z.object({ name: z.string(), requiredVersion: z.string() })).optional(),
  }),
});
export type ReleaseRecord = z.infer<typeof ReleaseRecord>;

const LocalisedText = z.strictObject({ en: z.string(), es: z.string() });

/**
 * A vendor's deployment document, signed by the portal: [Note: The signed deployment document] in
 * host/src/deployment/verify.ts.
 */
export const Deployment = z.strictObject({
  v: z.literal(1),
  vendor_id: VendorId,
  /** The only origin for which this document is valid. */
  origin: Origin,
  /**
   * Another origin of the portal's site, where the vault runs and no remote does
   * (`isSameSiteVault`).
   */
  vault_origin: Origin,
  /**
   * Increases with every signature. A host refuses a number lower than the highest that it has
   * seen.
   */
  sequence: z.int().min(1),
  issued_at: z.iso.datetime({ precision: 3 }),
  /** At most 7 days after `issued_at`. */
  not_after: z.iso.datetime({ precision: 3 }),
  environment: z.string(),
  app_version: z.string(),
  branding: z.strictObject({
    product_name: z.string().min(1),
    /** `vendor`: the logo at the top right on a dark background. */
    layout: z.enum(["standard", "vendor"]),
    /** Overrides of colour tokens. */
    colors: z.strictObject({ light: z.record(z.string(), z.string()), dark: z.record(z.string(), z.string()) }),
  }),
  identity: z.strictObject({ authority: SecureUrl, client_id: z.string().min(1), scope: z.string() }),
  /**
   * `issuer` of session tokens, if it differs from `base_url`: one service can serve the portals of
   * several vendors.
   */
  api: z.strictObject({ base_url: SecureUrl, credentials: z.boolean(), issuer: SecureUrl.optional() }),
  /**
   * Feature flags by name. A route whose `feature` is `false` here does not exist. Pages may check
   * other flags.
   */
  features: z.record(z.string(), z.boolean()),
  messages: z.array(
    z.strictObject({ id: z.string(), title: LocalisedText, body: LocalisedText, link: SecureUrl.optional() }),
  ),
  /** Cloud drives for kits and pictures. No drives if omitted. */
  drives: Drives.optional(),
  /** The vendor's payment provider, where people pay. If omitted, nothing costs money. */
  payments: z.strictObject({ url: SecureUrl }).optional(),
  /** Pages of other applications that hand secrets over: docs/handing-over.md. */
  handovers: z
    .array(z.strictObject({ name: z.string().min(1).max(80), url: SecureUrl }))
    .max(20)
    .optional(),
  releases: z.record(
    RemoteName,
    z.strictObject({
      stable: ReleaseId,
      canary: z.strictObject({ release: ReleaseId, percent: z.int().min(0).max(100) }).optional(),
    }),
  ),
  /** Revoked releases. Even a running session stops using them. */
  disabled: z.array(ReleaseId).optional(),
  /** The team's signature (JWS compact) of each release named above. */
  release_records: z.record(ReleaseId, z.string()),
});
export type Deployment = z.infer<typeof Deployment>;

/**
 * Payload of a developer's override, signed by the remote's team (JWS compact, EdDSA). While it is
 * valid, one tab runs this release instead of the deployed one. A host whose environment is
 * `production` refuses overrides.
 */
export const ReleaseOverride = z.strictObject({
  v: z.literal(1),
  kind: z.literal("release-override"),
  vendor_id: VendorId,
  origin: Origin,
  remote: RemoteName,
  release: ReleaseId,
  /** The team's signature (JWS compact) of the release. */
  release_record: z.string(),
  /** At most 24 hours from now. */
  not_after: z.iso.datetime({ precision: 3 }),
});
export type ReleaseOverride = z.infer<typeof ReleaseOverride>;

/**
 * Vendor and public keys that the gateway writes into the host's page as inert JSON (`<script
 * type="application/json" id="portal-page">`).
 */
export const PortalTrustAnchors = z.strictObject({
  vendor_id: VendorId,
  portal_keys: z.array(VerificationKey).min(1),
  team_keys: z.record(RemoteName, z.array(VerificationKey).min(1)),
});
export type PortalTrustAnchors = z.infer<typeof PortalTrustAnchors>;

/** The remote whose releases contain the vault. */
export const vaultRemote: RemoteName = "recovery";

/**
 * The same for the page of the vault's origin. `team_keys` has only the keys of {@link
 * vaultRemote}.
 */
export const VaultPage = z.strictObject({
  ...PortalTrustAnchors.shape,
  /** Origins that may frame the vault. The first is the origin in the deployment document. */
  portal_origins: z.tuple([Origin], Origin),
});
export type VaultPage = z.infer<typeof VaultPage>;
