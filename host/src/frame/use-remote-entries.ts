import { loadTexts } from "@relicario/shared/i18n";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import { useHost } from "../context/host-context.ts";
import { listRemoteEntries, type RemoteEntry } from "../routes/remote-entries.ts";
import { useLanguage } from "../settings/language.ts";

/**
 * Entries of remotes that exist now: the remote is not disabled, and no feature of the entry is
 * off.
 */
export function useRemoteEntries(): readonly RemoteEntry[] {
  const { verifiedDeployment, routes, deploymentWatch, flags } = useHost();
  const { disabledRemotes } = useSyncExternalStore(deploymentWatch.subscribe, deploymentWatch.getState);
  const flagStates = useSyncExternalStore(flags.subscribe, flags.getState);
  const entries = useMemo(() => listRemoteEntries(verifiedDeployment.remotes, routes), [verifiedDeployment, routes]);
  return useMemo(
    () =>
      entries.filter(
        ({ remote, features }) =>
          !disabledRemotes.has(remote) && !features.some((feature) => flagStates[feature] === false),
      ),
    [entries, disabledRemotes, flagStates],
  );
}

/** Title of an entry. While its text is not loaded, the title of the remote's area. */
export function useEntryTitle({ titleKey, areaTitle }: Pick<RemoteEntry, "titleKey" | "areaTitle">): string {
  const { i18n } = useTranslation();
  const language = useLanguage();
  const [, setLoadedNamespace] = useState("");
  const [namespace = ""] = titleKey.split(":");
  useEffect(() => {
    loadTexts(i18n, [namespace]).then(
      () => {
        setLoadedNamespace(namespace);
      },
      () => undefined, // the title of the area stays
    );
  }, [i18n, namespace]);
  return i18n.exists(titleKey) ? i18n.t(titleKey) : areaTitle[language];
}
