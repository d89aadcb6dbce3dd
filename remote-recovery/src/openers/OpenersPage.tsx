import type { OpenersOverview, Vault } from "@relicario/shared/contract";
import {
  Button,
  ButtonLink,
  Card,
  EmptyState,
  ErrorNotice,
  Muted,
  Page,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { FileText, KeyRound, Smartphone } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";

import { VaultRefresh } from "../flow/VaultRefresh.tsx";
import { focusOnMount } from "../flow/focus-on-mount.ts";
import { AddRecoveryCodePanel } from "./AddRecoveryCodePanel.tsx";
import { ResealPanel } from "./ResealPanel.tsx";
import { LostDevicePanel } from "./LostDevicePanel.tsx";
import { OpenerList } from "./OpenerList.tsx";
import { AddPasskeyPanel } from "./AddPasskeyPanel.tsx";
import { SecretList } from "./SecretList.tsx";

/** Route `/openers`: shows what opens each secret; adds and removes openers. */
export default function OpenersPage() {
  const { t } = useTranslation("openers");
  const access = useVault();
  const state = useVaultState(access);
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "ready" && state.status === "unknown" && <VaultRefresh vault={access.vault} />}
      {state.status === "empty" && (
        <EmptyState icon={<KeyRound />} title={t("page.empty_title")}>
          <p>{t("page.empty_body")}</p>
        </EmptyState>
      )}
      {state.status === "locked" && (
        <Card aria-labelledby="openers-locked">
          <Stack $gap={3}>
            <SectionTitle id="openers-locked">{t("page.locked_title")}</SectionTitle>
            <Muted>{t("page.locked_body")}</Muted>
            <SpacedRow>
              <ButtonLink to="/provide-image-recovery?then=%2Fopeners">{t("page.unlock_action")}</ButtonLink>
              <ButtonLink tone="plain" to="/start-anew">
                {t("page.anew_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      )}
      {access.status === "ready" && state.status === "unlocked" && <UnlockedOpeners vault={access.vault} />}
    </Page>
  );
}

type OverviewResult = { readonly overview: OpenersOverview } | { readonly error: unknown };

type Panel = "code" | "passkey" | "lost";

function UnlockedOpeners({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("openers");
  const [result, setResult] = useState<OverviewResult | null>(null);
  const [changeCount, setChangeCount] = useState(0);
  const [openPanel, setOpenPanel] = useState<Panel | null>(null);
  const [closedPanel, setClosedPanel] = useState<Panel | "done" | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const updateResult = (next: OverviewResult) => {
      if (!controller.signal.aborted) setResult(next);
    };
    vault.openers.list({ signal: controller.signal }).then(
      (overview) => {
        updateResult({ overview });
      },
      (error: unknown) => {
        updateResult({ error });
      },
    );
    return () => {
      controller.abort();
    };
  }, [vault, changeCount]);
  const handleChanged = () => {
    setChangeCount((previous) => previous + 1);
  };
  if (result === null) return <Skeleton height="320px" />;
  if ("error" in result) return <ErrorNotice error={result.error} onRetry={handleChanged} />;
  const { overview } = result;
  const closePanel = (outcome: Panel | "done" | null) => {
    setOpenPanel(null);
    setClosedPanel(outcome);
    handleChanged();
  };
  const handleDone = () => {
    closePanel("done");
  };
  const handleCancel = () => {
    closePanel(openPanel);
  };
  const getFocusRef = (panel: Panel) => (closedPanel === panel ? focusOnMount : null);
  if (openPanel === "lost")
    return <LostDevicePanel vault={vault} overview={overview} onDone={handleDone} onCancel={handleCancel} />;
  if (openPanel === "code") return <AddRecoveryCodePanel vault={vault} onAdded={handleDone} onCancel={handleCancel} />;
  if (openPanel === "passkey") return <AddPasskeyPanel vault={vault} onAdded={handleDone} onCancel={handleCancel} />;
  return (
    <>
      <OpenerList vault={vault} overview={overview} onChanged={handleChanged} focused={closedPanel === "done"} />
      <ResealPanel vault={vault} overview={overview} onChanged={handleChanged} />
      <Card aria-labelledby="openers-more">
        <Stack $gap={3}>
          <SectionTitle id="openers-more">{t("more.title")}</SectionTitle>
          <Muted>{t("more.body")}</Muted>
          <SpacedRow>
            <Button
              ref={getFocusRef("code")}
              tone="quiet"
              icon={<FileText aria-hidden />}
              onClick={() => {
                setOpenPanel("code");
              }}
            >
              {t("more.code_action")}
            </Button>
            <Button
              ref={getFocusRef("passkey")}
              tone="quiet"
              icon={<KeyRound aria-hidden />}
              onClick={() => {
                setOpenPanel("passkey");
              }}
            >
              {t("more.passkey_action")}
            </Button>
            <ButtonLink tone="quiet" to="/another-device">
              {t("more.device_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
      <SecretList overview={overview} />
      <SpacedRow>
        <Button
          ref={getFocusRef("lost")}
          tone="plain"
          icon={<Smartphone aria-hidden />}
          onClick={() => {
            setOpenPanel("lost");
          }}
        >
          {t("lost.open_action")}
        </Button>
      </SpacedRow>
      <Muted>
        <Link to="/start-anew">{t("page.anew_action")}</Link>
      </Muted>
    </>
  );
}
