import type { Language, RemoteName } from "@relicario/shared/contract";

import { getManifest, type VerifiedRemote } from "../deployment/verify.ts";
import { useHost } from "../context/host-context.ts";
import { useLanguage } from "../settings/language.ts";

/**
 * The title of an area when its own texts are not loaded: from its signed manifest, or the name of
 * the remote.
 */
function getAreaTitle(name: RemoteName, remote: VerifiedRemote | undefined, language: Language): string {
  return getManifest(remote)?.title[language] ?? name;
}

export function useAreaTitle(): (name: RemoteName) => string {
  const { remotes } = useHost().verified;
  const language = useLanguage();
  return (name) => getAreaTitle(name, remotes.get(name), language);
}
