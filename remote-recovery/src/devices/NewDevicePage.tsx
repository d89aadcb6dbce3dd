import { usePortal } from "@relicario/shared/contract";
import { DeviceQuestion } from "@relicario/shared/forms";
import {
  ButtonLink,
  EmptyState,
  ErrorNotice,
  Notice,
  Page,
  Skeleton,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { KeyRound } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { VaultRefresh } from "../flow/VaultRefresh.tsx";
import { toSafePath } from "../recover/paths.ts";
import { OfferDevice } from "./OfferDevice.tsx";

/**
 * Route `/new-device`: another device, which opens the account, admits this locked one. `?then=` is
 * the next path.
 */
export default function NewDevicePage() {
  const { t } = useTranslation("devices");
  const { navigate } = usePortal();
  const [query] = useSearchParams();
  const returnPath = toSafePath(query.get("then"));
  const access = useVault();
  const state = useVaultState(access);
  const [codeShown, setCodeShown] = useState(false);
  const finished = codeShown && state.status === "unlocked" && state.device !== null;
  useEffect(() => {
    if (finished) navigate(returnPath, { replace: true });
  }, [finished, navigate, returnPath]);
  return (
    <Page
      title={t("new.title")}
      lead={state.status === "locked" ? t("new.lead_body") : undefined}
      actions={
        <ButtonLink
          tone="quiet"
          size="small"
          to={`/provide-image-recovery?${new URLSearchParams({ then: returnPath }).toString()}`}
        >
          {t("new.back_action")}
        </ButtonLink>
      }
    >
      {access.status === "loading" && <Skeleton height="240px" />}
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "ready" && state.status === "unknown" && <VaultRefresh vault={access.vault} />}
      {state.status === "empty" && (
        <EmptyState icon={<KeyRound />} title={t("new.empty_title")}>
          <p>{t("new.empty_body")}</p>
        </EmptyState>
      )}
      {access.status === "ready" && state.status === "locked" && (
        <OfferDevice
          vault={access.vault}
          returnPath={returnPath}
          onOffered={() => {
            setCodeShown(true);
          }}
        />
      )}
      {access.status === "ready" && state.status === "unlocked" && state.device === null && (
        <DeviceQuestion vault={access.vault} />
      )}
      {state.status === "unlocked" && state.device !== null && !codeShown && (
        <Notice
          tone="success"
          title={t("new.unlocked_title")}
          actions={<ButtonLink to={returnPath}>{t("new.on_action")}</ButtonLink>}
        >
          <p>{t("new.unlocked_body")}</p>
        </Notice>
      )}
    </Page>
  );
}
