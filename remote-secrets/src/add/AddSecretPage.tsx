import { usePortal, type RecoveryImage } from "@relicario/shared/contract";
import { Card, ErrorNotice, Loading, Page, Skeleton, Stack, useVault, useVaultState } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { imagesQuery, rowsQuery, standingQuery, useClearOnLock, vaultOf } from "../data/secrets.ts";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { AddSecretForm } from "./AddSecretForm.tsx";

interface Beginning {
  readonly first: boolean;
  readonly images: readonly RecoveryImage[];
}

/** Protects a new secret. On a locked device that comes after unlocking, so that nothing typed is in the way. */
export default function AddSecretPage() {
  const { t } = useTranslation(["beta-add-secret", "beta-home", "file-upload"]);
  const { user } = usePortal();
  const access = useVault();
  const state = useVaultState(access);
  const vault = vaultOf(access);
  const standing = useQuery(standingQuery(vault, user.userId));
  const images = useQuery(imagesQuery(vault, user.userId, state.status));
  const rows = useQuery(rowsQuery(vault, user.userId, state.status));
  useClearOnLock();

  // What the form begins with stays while it is there: saving the first secret changes the state under it.
  const [beginning, setBeginning] = useState<Beginning | null>(null);
  if (beginning === null && state.status === "empty") setBeginning({ first: true, images: [] });
  if (beginning === null && state.status === "unlocked" && images.data !== undefined) setBeginning({ first: false, images: images.data });
  if (beginning !== null && state.status === "locked") setBeginning(null);

  const failure = access.status === "failed" ? { error: access.error, retry: access.retry } : (failed(standing) ?? failed(images));
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {failure !== null && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {failure === null && vault !== null && state.status === "locked" && <UnlockNotice vault={vault} then="/add-secret" reason="add" />}
      {vault !== null && beginning !== null && (
        <AddSecretForm vault={vault} {...beginning} suggestions={[...new Set((rows.data ?? []).flatMap((row) => row.label?.tags ?? []))]} />
      )}
      {failure === null && beginning === null && state.status !== "locked" && (
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

function failed(query: { readonly isError: boolean; readonly error: unknown; readonly refetch: () => Promise<unknown> }) {
  return query.isError ? { error: query.error, retry: () => void query.refetch() } : null;
}
