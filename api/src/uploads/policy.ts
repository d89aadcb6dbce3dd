import { authorizeSecrets, type SecretsScope } from "../secrets/policy.ts";

/**
 * An upload becomes a version of one of the account's own secrets: what goes for those goes for it.
 */
export type UploadsScope = SecretsScope;
export const authorizeUploads = authorizeSecrets;
