import { Loading, Skeleton, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

/** While a link is looked at, which costs nothing. */
export function OfferSkeleton() {
  const { t } = useTranslation("beta-recover-share");
  return (
    <Loading label={t("look.loading_status")}>
      <Stack>
        <Skeleton height="172px" />
        <Skeleton height="52px" width="180px" />
      </Stack>
    </Loading>
  );
}
