import type { SecretRow, Vault } from "@relicario/shared/contract";
import {
  ButtonLink,
  Card,
  ErrorNotice,
  Muted,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
  useVault,
  useVaultState,
} from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { KitList } from "./KitList.tsx";
import { KitForm } from "./KitForm.tsx";

interface KitSectionProps {
  readonly onCreated: () => void;
}

/** Creates and lists kits. Needs an unlocked device, because it shows titles. */
export function KitSection({ onCreated }: KitSectionProps) {
  const { t } = useTranslation("safeguard");
  const access = useVault();
  const state = useVaultState(access);
  if (access.status === "ready" && state.status === "unlocked")
    return <UnlockedKits vault={access.vault} onCreated={onCreated} />;
  return (
    <Card aria-labelledby="kit-title">
      <Stack $gap={3}>
        <SectionTitle id="kit-title">{t("kit.title")}</SectionTitle>
        <Muted>{t("kit.body")}</Muted>
        {access.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
        {state.status === "empty" && <Muted>{t("kit.empty_body")}</Muted>}
        {state.status === "locked" && (
          <>
            <Muted>{t("kit.locked_body")}</Muted>
            <SpacedRow>
              <ButtonLink tone="quiet" to="/provide-image-recovery?then=%2Fsafeguard">
                {t("kit.unlock_action")}
              </ButtonLink>
            </SpacedRow>
          </>
        )}
      </Stack>
      {access.status === "ready" && state.status === "unknown" && <VaultRefresh vault={access.vault} />}
    </Card>
  );
}

/** Refreshes the vault once, so that its state leaves `unknown`. */
function VaultRefresh({ vault }: { readonly vault: Vault }) {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    vault.refresh().catch(setError);
  }, [vault]);
  return error === null ? <Skeleton height="44px" /> : <ErrorNotice error={error} />;
}

type RowsResult = { readonly rows: readonly SecretRow[] } | { readonly error: unknown };

function UnlockedKits({ vault, onCreated }: KitSectionProps & { readonly vault: Vault }) {
  const { t } = useTranslation("safeguard");
  const [result, setResult] = useState<RowsResult | null>(null);
  const [createdCount, setCreatedCount] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    vault.list({ signal: controller.signal }).then(
      (rows) => {
        setResult({ rows: rows.filter(isAvailable) });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setResult({ error });
      },
    );
    return () => {
      controller.abort();
    };
  }, [vault, createdCount]);
  const rows = result !== null && "rows" in result ? result.rows : [];
  return (
    <>
      <Card aria-labelledby="kit-title">
        <Stack $gap={4}>
          <Stack $gap={2}>
            <SectionTitle id="kit-title">{t("kit.title")}</SectionTitle>
            <Muted>{t("kit.body")}</Muted>
          </Stack>
          {result === null && <Skeleton height="320px" />}
          {result !== null && "error" in result && <ErrorNotice error={result.error} />}
          {result !== null && "rows" in result && rows.length === 0 && <Muted>{t("kit.empty_body")}</Muted>}
          {rows.length > 0 && (
            <KitForm
              vault={vault}
              rows={rows}
              onCreated={() => {
                setCreatedCount((previous) => previous + 1);
                onCreated();
              }}
            />
          )}
        </Stack>
      </Card>
      <KitList rows={rows} />
    </>
  );
}

/** Whether the secret has a title and content, and is not in the trash. */
function isAvailable({ label, deletedAt, droppedAt }: SecretRow): boolean {
  return label !== null && deletedAt === null && droppedAt === null;
}
