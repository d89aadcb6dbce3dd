import { autoLockMinutes, type Vault } from "@relicario/shared/contract";
import { SelectField } from "@relicario/shared/forms";
import { ErrorNotice, Loading, type VaultAccess } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

const { minimum, default: defaultMinutes, maximum } = autoLockMinutes;
const presetMinutes = [minimum, 5, defaultMinutes, 30, 60, 120, maximum];

/**
 * Field for the minutes without input after which this device locks. They are stored on the device,
 * and apply at once in every tab.
 */
export function AutoLockField({ access }: { readonly access: VaultAccess }) {
  const { t } = useTranslation("settings-security");
  if (access.status === "failed") return <ErrorNotice error={access.error} onRetry={access.retry} />;
  if (access.status === "loading") {
    return (
      <Loading label={t("lock.loading_status")}>
        <SelectField
          label={t("lock.minutes_label")}
          hint={t("lock.minutes_hint")}
          value=""
          choices={[]}
          disabled
          onChange={() => undefined}
        />
      </Loading>
    );
  }
  return <AutoLockSelect vault={access.vault} />;
}

function AutoLockSelect({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("settings-security");
  const [minutes, setMinutes] = useState(() => vault.autoLock.get());
  const choices = [...new Set([...presetMinutes, minutes])].toSorted((a, b) => a - b);
  const handleChange = (value: string) => {
    vault.autoLock.set(Number(value));
    setMinutes(vault.autoLock.get());
  };
  return (
    <SelectField
      label={t("lock.minutes_label")}
      hint={t("lock.minutes_hint")}
      value={String(minutes)}
      choices={choices.map((count) => ({
        value: String(count),
        label: count % 60 === 0 ? t("lock.hours_option", { count: count / 60 }) : t("lock.minutes_option", { count }),
      }))}
      onChange={handleChange}
    />
  );
}
