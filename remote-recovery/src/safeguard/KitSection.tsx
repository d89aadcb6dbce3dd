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
import { KitMaker } from "./KitMaker.tsx";

interface KitSectionProps {
  /** Called once a kit was handed to the downloads. */
  readonly onMade: () => void;
}

/** Making a kit, and which ones there are; titles show on an unlocked device alone. */
export function KitSection({ onMade }: KitSectionProps) {
  const { t } = useTranslation("safeguard");
  const access = useVault();
  const state = useVaultState(access);
  if (access.status === "ready" && state.status === "unlocked")
    return <UnlockedKits vault={access.vault} onMade={onMade} />;
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
      {access.status === "ready" && state.status === "unknown" && <Refresh vault={access.vault} />}
    </Card>
  );
}

/** How things stand is asked for once. */
function Refresh({ vault }: { readonly vault: Vault }) {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    vault.refresh().catch(setError);
  }, [vault]);
  return error === null ? <Skeleton height="44px" /> : <ErrorNotice error={error} />;
}

type Reading = { readonly rows: readonly SecretRow[] } | { readonly error: unknown };

function UnlockedKits({ vault, onMade }: KitSectionProps & { readonly vault: Vault }) {
  const { t } = useTranslation("safeguard");
  const [reading, setReading] = useState<Reading | null>(null);
  const [made, setMade] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    vault.list({ signal: controller.signal }).then(
      (rows) => {
        setReading({ rows: rows.filter(isThere) });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setReading({ error });
      },
    );
    return () => {
      controller.abort();
    };
  }, [vault, made]);
  const rows = reading !== null && "rows" in reading ? reading.rows : [];
  return (
    <>
      <Card aria-labelledby="kit-title">
        <Stack $gap={4}>
          <Stack $gap={2}>
            <SectionTitle id="kit-title">{t("kit.title")}</SectionTitle>
            <Muted>{t("kit.body")}</Muted>
          </Stack>
          {reading === null && <Skeleton height="320px" />}
          {reading !== null && "error" in reading && <ErrorNotice error={reading.error} />}
          {reading !== null && "rows" in reading && rows.length === 0 && <Muted>{t("kit.empty_body")}</Muted>}
          {rows.length > 0 && (
            <KitMaker
              vault={vault}
              rows={rows}
              onMade={() => {
                setMade((before) => before + 1);
                onMade();
              }}
            />
          )}
        </Stack>
      </Card>
      <KitList rows={rows} />
    </>
  );
}

/** With a title, a content, and outside the trash. */
function isThere({ label, deletedAt, droppedAt }: SecretRow): boolean {
  return label !== null && deletedAt === null && droppedAt === null;
}
