import { Button, Notice, Page } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { useHost } from "../context/host-context.ts";
import { useAreaTitle } from "../area/area-title.ts";
import { HealthList, useHealth } from "./HealthList.tsx";

/**
 * Shows whether portal, service and sign-in provider respond now, and which remotes were refused.
 */
export default function StatusPage() {
  const { t } = useTranslation("header");
  const { verifiedDeployment } = useHost();
  const getAreaTitle = useAreaTitle();
  const { rows, isChecking, recheck } = useHealth();
  const refusedRemotes = [...verifiedDeployment.remotes].flatMap(([name, remote]) =>
    remote.status === "refused" ? [name] : [],
  );
  const isComplete = rows.every(({ failure }) => failure !== undefined);
  const downRows = rows.filter(({ failure }) => failure !== undefined && failure !== null);

  return (
    <Page
      title={t("status.title")}
      lead={t("status.lead")}
      actions={
        <Button tone="quiet" pending={isChecking} onClick={recheck}>
          {t("status.again_action")}
        </Button>
      }
    >
      <div role="status">
        {!isComplete && <Notice>{t("status.asking_body")}</Notice>}
        {isComplete && downRows.length === 0 && refusedRemotes.length === 0 && (
          <Notice tone="success">{t("status.all_body")}</Notice>
        )}
        {isComplete && downRows.length > 0 && (
          <Notice tone="warn">
            {t("status.some_body", { areas: downRows.map(({ name }) => t(`status.${name}.title`)).join(", ") })}
          </Notice>
        )}
      </div>
      {refusedRemotes.length > 0 && (
        <Notice tone="warn">{t("status.refused_body", { areas: refusedRemotes.map(getAreaTitle).join(", ") })}</Notice>
      )}
      <HealthList rows={rows} />
    </Page>
  );
}
