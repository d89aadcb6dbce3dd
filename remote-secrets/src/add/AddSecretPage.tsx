import { usePortal, type RecoveryImage, type Vault } from "@relicario/shared/contract";
import { Card, ErrorNotice, Loading, Page, Skeleton, Stack, useVault, useVaultState } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, useSearchParams } from "react-router-dom";

import { useClearOnLock } from "../data/clear-on-lock.ts";
import { imagesQuery, refreshQuery, rowsQuery, getVault } from "../data/secrets.ts";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { AddSecretForm } from "./AddSecretForm.tsx";

interface Snapshot {
  readonly isFirstSecret: boolean;
  readonly images: readonly RecoveryImage[];
}

/**
 * Route `/add-secret`. `?guided` redirects a first secret to the guided flow. A locked vault is
 * unlocked before the form is shown, because unlocking leaves the page and would lose the input.
 */
export default function AddSecretPage() {
  const { t } = useTranslation(["beta-add-secret", "beta-home", "file-upload"]);
  const { user } = usePortal();
  const [searchParams] = useSearchParams();
  const access = useVault();
  const state = useVaultState(access);
  const vault = getVault(access);
  const refresh = useQuery(refreshQuery(vault, user.userId));
  const images = useQuery(imagesQuery(vault, user.userId, state.status));
  const rows = useQuery(rowsQuery(vault, user.userId, state.status));
  useClearOnLock();

  // Set once, because saving the first secret changes status and images while the form is mounted.
  const [snapshot, setSnapshot] = useState<Snapshot | null>(null);
  if (snapshot === null && state.status === "empty") setSnapshot({ isFirstSecret: true, images: [] });
  if (snapshot === null && state.status === "unlocked" && images.data !== undefined)
    setSnapshot({ isFirstSecret: false, images: images.data });
  if (snapshot !== null && state.status === "locked") setSnapshot(null);
  // Kept while the vault's frame is loaded again, so that the form stays mounted with its input.
  const [latestVault, setLatestVault] = useState<Vault | null>(null);
  if (vault !== null && vault !== latestVault) setLatestVault(vault);

  if (searchParams.has("guided") && state.status === "empty") return <Navigate to="/welcome-backup" replace />;
  const failure =
    access.status === "failed"
      ? { error: access.error, retry: access.retry }
      : (getQueryFailure(refresh) ?? getQueryFailure(images));
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {failure !== null && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {failure === null && vault !== null && state.status === "locked" && (
        <UnlockNotice vault={vault} returnTo="/add-secret" reason="add" />
      )}
      {latestVault !== null && snapshot !== null && (
        <AddSecretForm
          vault={latestVault}
          isVaultReady={vault !== null}
          {...snapshot}
          suggestions={[...new Set((rows.data ?? []).flatMap((row) => row.label?.tags ?? []))]}
        />
      )}
      {failure === null && snapshot === null && state.status !== "locked" && (
        <Loading label={t("page.loading_status")}>
          <Card as="div">
            <Stack $gap={5}>
              <Skeleton height="180px" />
              <Skeleton height="72px" />
              <Skeleton height="72px" />
            </Stack>
          </Card>
        </Loading>
      )}
    </Page>
  );
}

function getQueryFailure(query: {
  readonly isError: boolean;
  readonly error: unknown;
  readonly refetch: () => Promise<unknown>;
}) {
  return query.isError ? { error: query.error, retry: () => void query.refetch() } : null;
}
