import { z } from "zod";

import { Drives } from "./drives.ts";
import { RemoteManifest, RemoteName } from "./manifest.ts";

/** Subresource integrity of one file: `sha384-` and 64 characters of base64. */
export const Integrity = z.string().regex(/^sha384-[A-Za-z0-9+/]{64}$/);

/**
 * `<remote>-<version>-<12 hex digits of the SHA-256 of its file list>`: the same sources give the
 * same release.
 */
export const ReleaseId = z.string().regex(/^[a-z][a-z0-9]{0,31}-[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{12}$/);

/** Public Ed25519 key as the host's page and the tools keep it. */
export const VerificationKey = z.strictObject({
  kid: z.string().min(1),
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string().length(43),
});
export type VerificationKey = z.infer<typeof VerificationKey>;

/**
 * Of federation's manifest: files lie beside the entry, in the folder of the release, and nowhere
 * else.
 */
const FederationMetadata = z.looseObject({
  publicPath: z.literal("auto").optional(),
  getPublicPath: z.undefined().optional(),
  remoteEntry: z.looseObject({ name: z.literal("remoteEntry.js"), path: z.literal("") }).optional(),
});

/**
 * What `release.json` says of an immutable folder of files, signed by the team (JWS compact,
 * EdDSA).
 */
export const ReleaseRecord = z.strictObject({
  v: z.literal(1),
  release: ReleaseId,
  version: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+$/),
  /** What the remote says of itself; also one of the files. */
  manifest: RemoteManifest,
  /** Every file by its path inside the folder. */
  files: z.record(z.string().regex(/^[A-Za-z0-9@._-]+(\/[A-Za-z0-9@._-]+)*$/), Integrity),
  /**
   * Module Federation's manifest: what of the shared packages its code asks for, in which versions.
   */
  federation: z.looseObject({
    id: z.string(),
    name: z.string(),
    metaData: FederationMetadata.optional(),
    shared: z.array(z.looseObject({ name: z.string(), requiredVersion: z.string() })).optional(),
  }),
});
export type ReleaseRecord = z.infer<typeof ReleaseRecord>;

const Origin = z.url().refine((value) => new URL(value).origin === value, "not an origin");

const LocalisedText = z.strictObject({ en: z.string(), es: z.string() });

/** Payload of a vendor's deployment document, signed by the portal (JWS General JSON, EdDSA). */
export const Deployment = z.strictObject({
  v: z.literal(1),
  vendor_id: z.string(),
  /** The one origin that this document is for. */
  origin: Origin,
  /** Grows with every signing; an older one than already seen is refused. */
  sequence: z.int().min(1),
  issued_at: z.iso.datetime({ precision: 3 }),
  /** At most 7 days after `issued_at`. */
  not_after: z.iso.datetime({ precision: 3 }),
  environment: z.string(),
  app_version: z.string(),
  branding: z.strictObject({
    product_name: z.string().min(1),
    /** Layout with the logo top right and a dark background. */
    layout: z.enum(["standard", "vendor"]),
    /** Overrides of colour tokens. */
    colors: z.strictObject({ light: z.record(z.string(), z.string()), dark: z.record(z.string(), z.string()) }),
  }),
  identity: z.strictObject({ authority: z.url(), client_id: z.string().min(1), scope: z.string() }),
  /**
   * `issuer`: who session tokens are from, where that is not `base_url`: one service answers for
   * the portals of several vendors.
   */
  api: z.strictObject({ base_url: z.url(), credentials: z.boolean(), issuer: z.url().optional() }),
  /**
   * A route of a remote whose feature is `false` here is not there; a page of a remote may ask for
   * `true`.
   */
  features: z.record(z.string(), z.boolean()),
  messages: z.array(
    z.strictObject({ id: z.string(), title: LocalisedText, body: LocalisedText, link: z.url().optional() }),
  ),
  /** Cloud drives for kits and pictures; none when left out. */
  drives: Drives.optional(),
  /** The vendor's payment provider; people pay there, not here. Nothing is paid when left out. */
  payments: z.strictObject({ url: z.url({ protocol: /^https$/ }) }).optional(),
  releases: z.record(
    RemoteName,
    z.strictObject({
      stable: ReleaseId,
      canary: z.strictObject({ release: ReleaseId, percent: z.int().min(0).max(100) }).optional(),
    }),
  ),
  /** Releases that nobody may go on with, not even a session that started with them. */
  disabled: z.array(ReleaseId).optional(),
  /** The team's JWS (compact) of each release named above. */
  release_records: z.record(ReleaseId, z.string()),
});
export type Deployment = z.infer<typeof Deployment>;

/**
 * Payload of a developer's override: while it is valid, one tab runs this release of one remote in
 * place of the promoted one. Signed by the remote's team (JWS compact, EdDSA). A host whose
 * environment is `production` takes none.
 */
export const ReleaseOverride = z.strictObject({
  v: z.literal(1),
  kind: z.literal("release-override"),
  vendor_id: z.string(),
  origin: Origin,
  remote: RemoteName,
  release: ReleaseId,
  /** The team's JWS (compact) of the release. */
  release_record: z.string(),
  /** At most 24 hours ahead. */
  not_after: z.iso.datetime({ precision: 3 }),
});
export type ReleaseOverride = z.infer<typeof ReleaseOverride>;

/**
 * What the gateway writes into the host's page as inert JSON (`<script type="application/json"
 * id="portal-page">`).
 */
export const PortalTrustAnchors = z.strictObject({
  vendor_id: z.string(),
  portal_keys: z.array(VerificationKey).min(1),
  team_keys: z.record(RemoteName, z.array(VerificationKey).min(1)),
});
export type PortalTrustAnchors = z.infer<typeof PortalTrustAnchors>;
