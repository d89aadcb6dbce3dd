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
 * Loads the account, then shows its name and contact address, the licence with what is used of it,
 * and the password, whose rules come later.
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
      <LicenceCard me={me.data} />
      <SmallText>{t("profile.sealed_hint")}</SmallText>
      <PasswordCard username={me.data.username} />
    </Stack>
  );
}
