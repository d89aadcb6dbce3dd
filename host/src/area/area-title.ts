import type { Language, RemoteName } from "@relicario/shared/contract";

import { getManifest, type VerifiedRemote } from "../deployment/verify.ts";
import { useHost } from "../context/host-context.ts";
import { useLanguage } from "../settings/language.ts";

/**
 * Title of an area whose texts are not loaded: the title in its signed manifest, else the remote's
 * name.
 */
function getAreaTitle(name: RemoteName, remote: VerifiedRemote | undefined, language: Language): string {
  return getManifest(remote)?.title[language] ?? name;
}

export function useAreaTitle(): (name: RemoteName) => string {
  const { remotes } = useHost().verifiedDeployment;
  const language = useLanguage();
  return (name) => getAreaTitle(name, remotes.get(name), language);
}
