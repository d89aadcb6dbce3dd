import { secretsPolicy, type OwnSecrets } from "../secrets/policy.ts";

/**
 * An upload becomes a version of one of the account's own secrets: what goes for those goes for it.
 */
export type OwnUploads = OwnSecrets;
export const uploadsPolicy = secretsPolicy;
