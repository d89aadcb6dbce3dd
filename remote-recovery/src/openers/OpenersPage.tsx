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

import { Refresh } from "../flow/Refresh.tsx";
import { takeFocus } from "../flow/take-focus.ts";
import { CodeMaker } from "./CodeMaker.tsx";
import { CoverPanel } from "./CoverPanel.tsx";
import { LostDevice } from "./LostDevice.tsx";
import { OpenerList } from "./OpenerList.tsx";
import { PasskeyMaker } from "./PasskeyMaker.tsx";
import { SecretList } from "./SecretList.tsx";

/** Route `/openers`: what opens each secret today, and new ways to open them. */
export default function OpenersPage() {
  const { t } = useTranslation("openers");
  const access = useVault();
  const state = useVaultState(access);
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {access.status === "ready" && state.status === "unknown" && <Refresh vault={access.vault} />}
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
      {access.status === "ready" && state.status === "unlocked" && <Unlocked vault={access.vault} />}
    </Page>
  );
}

type Reading = { readonly overview: OpenersOverview } | { readonly error: unknown };

type Panel = "code" | "passkey" | "lost";

function Unlocked({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("openers");
  const [reading, setReading] = useState<Reading | null>(null);
  const [changes, setChanges] = useState(0);
  const [making, setMaking] = useState<Panel | null>(null);
  const [left, setLeft] = useState<Panel | "done" | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const tell = (next: Reading) => {
      if (!controller.signal.aborted) setReading(next);
    };
    vault.openers.list({ signal: controller.signal }).then(
      (overview) => {
        tell({ overview });
      },
      (error: unknown) => {
        tell({ error });
      },
    );
    return () => {
      controller.abort();
    };
  }, [vault, changes]);
  const handleChanged = () => {
    setChanges((before) => before + 1);
  };
  if (reading === null) return <Skeleton height="320px" />;
  if ("error" in reading) return <ErrorNotice error={reading.error} onRetry={handleChanged} />;
  const { overview } = reading;
  const leave = (as: Panel | "done" | null) => {
    setMaking(null);
    setLeft(as);
    handleChanged();
  };
  const handleDone = () => {
    leave("done");
  };
  const handleCancel = () => {
    leave(making);
  };
  const focusFor = (panel: Panel) => (left === panel ? takeFocus : null);
  if (making === "lost")
    return <LostDevice vault={vault} overview={overview} onDone={handleDone} onCancel={handleCancel} />;
  if (making === "code") return <CodeMaker vault={vault} onAdded={handleDone} onCancel={handleCancel} />;
  if (making === "passkey") return <PasskeyMaker vault={vault} onAdded={handleDone} onCancel={handleCancel} />;
  return (
    <>
      <OpenerList vault={vault} overview={overview} onChanged={handleChanged} focused={left === "done"} />
      <CoverPanel vault={vault} overview={overview} onChanged={handleChanged} />
      <Card aria-labelledby="openers-more">
        <Stack $gap={3}>
          <SectionTitle id="openers-more">{t("more.title")}</SectionTitle>
          <Muted>{t("more.body")}</Muted>
          <SpacedRow>
            <Button
              ref={focusFor("code")}
              tone="quiet"
              icon={<FileText aria-hidden />}
              onClick={() => {
                setMaking("code");
              }}
            >
              {t("more.code_action")}
            </Button>
            <Button
              ref={focusFor("passkey")}
              tone="quiet"
              icon={<KeyRound aria-hidden />}
              onClick={() => {
                setMaking("passkey");
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
          ref={focusFor("lost")}
          tone="plain"
          icon={<Smartphone aria-hidden />}
          onClick={() => {
            setMaking("lost");
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
