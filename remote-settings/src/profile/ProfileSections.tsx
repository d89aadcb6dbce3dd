import { Loading, ErrorNotice, Skeleton, SmallText, Stack } from "@relicario/shared/ui";
import { usePortal } from "@relicario/shared/contract";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { meQuery } from "../data/me.ts";
import { AddressStatus } from "./AddressStatus.tsx";
import { LicenceCard } from "./LicenceCard.tsx";
import { NameAndAddressForm } from "./NameAndAddressForm.tsx";
import { PasswordCard } from "./PasswordCard.tsx";

/**
 * Loads the account, then shows name and contact address, licence and password. The password rules
 * load separately.
 */
export function ProfileSections() {
  const { t } = useTranslation("settings");
  const portal = usePortal();
  const me = useQuery(meQuery(portal));
  if (me.isError) return <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />;
  if (me.data === undefined) {
    return (
      <Loading label={t("profile.loading_status")}>
        <Skeleton height="720px" />
      </Loading>
    );
  }
  return (
    <Stack $gap={5}>
      <NameAndAddressForm me={me.data}>
        <AddressStatus key={me.data.contact_email} me={me.data} onRefresh={() => void me.refetch()} />
      </NameAndAddressForm>
      <SmallText>{t("profile.sealed_hint")}</SmallText>
      <LicenceCard me={me.data} />
      <PasswordCard username={me.data.username} />
    </Stack>
  );
}
