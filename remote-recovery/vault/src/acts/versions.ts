import { Id } from "@relicario/shared/api";
import type { SecretVersion } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { wipe } from "../seal/bytes.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { readAccount, requireRow } from "../steps/read-account.ts";
import { sealInCall } from "../steps/sealed-secret.ts";
import { recover } from "./recover.ts";
import { publishVersion, type NewVersion } from "./update.ts";
import type { ShownPicture } from "../shown-image.ts";

/**
 * The versions that the service still keeps, newest first. Their numbers and dates are the service's word; what a version
 * holds is checked when it is opened.
 *
 * @throws PortalError `not_found`, `list_mismatch` when the newest is not the one of the list.
 */
export async function history(vault: VaultContext, secretId: string, options: ActOptions = {}): Promise<SecretVersion[]> {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
  const stored = await vault.service.secret(secretId, null, options.signal);
  const versions = stored.versions.toSorted((left, right) => right.version - left.version);
  const numbers = new Set(versions.map(({ version }) => version));
  if (versions[0]?.version !== stored.version || numbers.size !== versions.length) throw new PortalError("list_mismatch");
  return versions.map(({ version, size, created_at: createdAt }) => ({ version, createdAt, sealedSize: size, current: version === stored.version }));
}

/**
 * The content of an older version as a new one, with title, tags and openers of today. What this account did not sign is
 * not signed now: it stays what it is, an old version of an unknown author.
 *
 * @throws PortalError those of {@link recover} and of a new version.
 */
export async function restoreVersion(vault: VaultContext, secretId: string, version: number, shown: ShownPicture, options: ActOptions = {}): Promise<NewVersion> {
  const former = await recover(vault, secretId, shown, { ...options, version });
  try {
    if (former.current) return { version };
    if (former.author !== "verified") throw new PortalError("decryption_failed");
    const { row } = requireRow(await readAccount(vault, options.signal), secretId);
    const { contentKind, name, mime, content } = former;
    const ready = await sealInCall(vault, { contentKind, name, mime, content: new Blob([content]) }, options);
    return await publishVersion(vault, secretId, { version: row.version, rev: undefined }, { content: { contentKind, name, mime } }, ready, options);
  } finally {
    wipe(former.content);
  }
}
