import { ButtonLink, Notice, Page } from "@relicario/shared/ui";
import { Lock } from "lucide-react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { DraftLostNotice } from "./DraftLostNotice.tsx";
import type { DraftLossReason } from "./step-props.ts";

/**
 * Asks to unlock an account that has secrets. Comes before all input, because unlocking leaves the
 * flow.
 */
export function LockedStep({ lossReason }: { readonly lossReason: DraftLossReason | null }) {
  const { t } = useTranslation("provide-image");
  return (
    <Page title={t("page.title")}>
      <FlowSteps flow="backup" step="picture" />
      <DraftLostNotice lossReason={lossReason} />
      <Notice
        title={t("locked.title")}
        actions={
          <ButtonLink
            size="small"
            icon={<Lock aria-hidden />}
            to={`/provide-image-recovery?${new URLSearchParams({ then: "/provide-image" }).toString()}`}
          >
            {t("locked.unlock_action")}
          </ButtonLink>
        }
      >
        {t("locked.body")}
      </Notice>
    </Page>
  );
}
