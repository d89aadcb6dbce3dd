import { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { Button, Card, ErrorNotice, Loading, Page, Skeleton, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import "./first-page.css";

/** Route `/__name__`. */
export default function FirstPage() {
  const { t } = useTranslation("__name__");
  const { http, notify } = usePortal();
  const me = useQuery({
    queryKey: ["__name__", "me"],
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });

  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {me.isError && <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />}
      {me.isPending && (
        <Loading label={t("page.loading_status")}>
          <Skeleton height="120px" />
        </Loading>
      )}
      {me.data !== undefined && (
        <Card>
          <Stack $gap={3}>
            <p className="__name__-greeting">{t("page.greeting_body", { name: me.data.user_name })}</p>
            <Button
              onClick={() => {
                notify({ tone: "success", text: t("page.greeted_status") });
              }}
            >
              {t("page.greet_action")}
            </Button>
          </Stack>
        </Card>
      )}
    </Page>
  );
}
