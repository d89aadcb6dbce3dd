import { keepOpenDurations, type Vault } from "@relicario/shared/contract";
import { SelectField } from "@relicario/shared/forms";
import { Loading, type VaultAccess } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

/**
 * Field for the time for which a presented way to open serves further openings. Stored on the
 * device, as the auto-lock is.
 */
export function KeepOpenField({ access }: { readonly access: VaultAccess }) {
  const { t } = useTranslation("settings-security");
  if (access.status === "failed") return null; // the field above reports it
  if (access.status === "loading") {
    return (
      <Loading label={t("lock.loading_status")}>
        <SelectField
          label={t("keep_open.duration_label")}
          hint={t("keep_open.duration_hint")}
          value=""
          choices={[]}
          disabled
          onChange={() => undefined}
        />
      </Loading>
    );
  }
  return <KeepOpenSelect vault={access.vault} />;
}

function KeepOpenSelect({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("settings-security");
  const [duration, setDuration] = useState(() => vault.keepOpen.get());
  const handleChange = (value: string) => {
    const chosen = keepOpenDurations.find((candidate) => candidate === value);
    if (chosen === undefined) return;
    vault.keepOpen.set(chosen);
    setDuration(chosen);
  };
  return (
    <SelectField
      label={t("keep_open.duration_label")}
      hint={t("keep_open.duration_hint")}
      value={duration}
      choices={keepOpenDurations.map((value) => ({ value, label: t(`keep_open.${value}_option`) }))}
      onChange={handleChange}
    />
  );
}
