import { Loading, Skeleton, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

export function PreviewSkeleton() {
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
