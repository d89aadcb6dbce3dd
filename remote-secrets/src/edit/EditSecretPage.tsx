import { usePortal, type RecoveryImage, type SecretRow } from "@relicario/shared/contract";
import {
  ButtonLink,
  Card,
  EmptyState,
  Loading,
  Notice,
  Page,
  Skeleton,
  Stack,
  useVaultState,
  useVault,
} from "@relicario/shared/ui";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FileQuestion, Share2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, useParams } from "react-router-dom";

import {
  imagesQuery,
  liveSharesQuery,
  rowsQuery,
  collectTags,
  useSecrets,
  getVault,
  type SecretsState,
} from "../data/secrets.ts";
import { ReadFailureNotice } from "../notices/ReadFailureNotice.tsx";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { EditSecretForm } from "./EditSecretForm.tsx";
import { toEditingSecret, type EditingSecret } from "./secret-change.ts";

/** Routes `/edit-secret/:secretId` and `/edit-secret`, which redirects to the list. */
export default function EditSecretPage() {
  const { secretId } = useParams();
  return secretId === undefined ? <Navigate to="/secrets" replace /> : <EditSecret secretId={secretId} />;
}

/**
 * Leaving the page or locking drops the edit, because all its state is React state below this
 * component.
 */
function EditSecret({ secretId }: { readonly secretId: string }) {
  const { t } = useTranslation(["beta-add-secret", "beta-home", "file-upload"]);
  const secrets = useSecrets();
  const unlocked = useVaultState(useVault()).status === "unlocked";
  const row =
    secrets.status === "ready" ? secrets.rows.find((candidate) => candidate.secretId === secretId) : undefined;

  // Set once: the form must stay mounted when the list fails or another device deletes the secret.
  // Only leaving the page, another id in the route, or a lock unmounts the form.
  const [editingSecret, setEditingSecret] = useState<EditingSecret | null>(null);
  const loadedSecret = unlocked && row?.deletedAt === null ? toEditingSecret(row) : null;
  if (editingSecret === null && loadedSecret !== null) setEditingSecret(loadedSecret);
  if (editingSecret !== null && (!unlocked || editingSecret.secretId !== secretId)) setEditingSecret(null);
  return (
    <Page
      title={t("edit.title")}
      lead={t("edit.lead_body")}
      actions={
        <ButtonLink tone="quiet" to={`/share/${secretId}`} icon={<Share2 aria-hidden />}>
          {t("edit.share_action")}
        </ButtonLink>
      }
    >
      {secrets.status !== "loading" && <ReadFailureNotice failure={secrets.failure} />}
      {secrets.status === "ready" && secrets.vaultStatus === "locked" && (
        <UnlockNotice vault={secrets.vault} returnTo={`/edit-secret/${secretId}`} reason="edit" />
      )}
      {editingSecret === null && isMissing(secrets, row) && (
        <EmptyState
          icon={<FileQuestion />}
          title={t(row === undefined ? "edit.gone_title" : "edit.trashed_title")}
          actions={<ButtonLink to="/secrets">{t("edit.list_action")}</ButtonLink>}
        >
          <p>{t(row === undefined ? "edit.gone_body" : "edit.trashed_body")}</p>
        </EmptyState>
      )}
      {editingSecret !== null && (
        <EditFormLoader
          key={editingSecret.secretId}
          editingSecret={editingSecret}
          rows={secrets.status === "ready" ? secrets.rows : []}
        />
      )}
      {editingSecret === null && isLoadingRow(secrets, row) && <FormSkeleton />}
    </Page>
  );
}

function isMissing(secrets: SecretsState, row: SecretRow | undefined): boolean {
  if (secrets.status !== "ready" || secrets.vaultStatus === "locked") return false;
  return row === undefined ? secrets.openingProgress === null : row.deletedAt !== null;
}

function isLoadingRow(secrets: SecretsState, row: SecretRow | undefined): boolean {
  return (
    secrets.status === "loading" ||
    (secrets.status === "ready" && secrets.openingProgress !== null && row === undefined)
  );
}

interface EditFormLoaderProps {
  readonly editingSecret: EditingSecret;
  readonly rows: readonly SecretRow[];
}

/**
 * Loads the recovery images once, because the form's choices must not change while a person fills
 * it in.
 */
function EditFormLoader({ editingSecret, rows }: EditFormLoaderProps) {
  const { t } = useTranslation("beta-add-secret");
  const { user } = usePortal();
  const client = useQueryClient();
  const access = useVault();
  const { status } = useVaultState(access);
  const vault = getVault(access);
  const { data } = useQuery(imagesQuery(vault, user.userId, status));
  const [images, setImages] = useState<readonly RecoveryImage[] | null>(null);
  if (images === null && data !== undefined) setImages(data);

  const refetchSecret = async () => {
    const latestRows = await client.query({ ...rowsQuery(vault, user.userId, status), staleTime: 0 });
    const row = latestRows.find(({ secretId }) => secretId === editingSecret.secretId);
    return row === undefined ? null : toEditingSecret(row);
  };
  const shares = useQuery(liveSharesQuery(vault, user.userId, status));
  if (vault === null || images === null || shares.isPending) return <FormSkeleton />;
  const shareCount = (shares.data ?? []).filter(({ secretId }) => secretId === editingSecret.secretId).length;
  return (
    <>
      {shareCount > 0 && (
        <Notice
          actions={
            <ButtonLink tone="quiet" size="small" to={`/share/${editingSecret.secretId}`}>
              {t("edit.shares_action")}
            </ButtonLink>
          }
        >
          {t("edit.shared_body", { count: shareCount })}
        </Notice>
      )}
      <EditSecretForm
        vault={vault}
        editingSecret={editingSecret}
        images={images}
        suggestions={collectTags(rows)}
        refetchSecret={refetchSecret}
      />
    </>
  );
}

function FormSkeleton() {
  const { t } = useTranslation("beta-add-secret");
  return (
    <Loading label={t("page.loading_status")}>
      <Card as="div">
        <Stack $gap={5}>
          <Skeleton height="72px" />
          <Skeleton height="72px" />
          <Skeleton height="120px" />
        </Stack>
      </Card>
    </Loading>
  );
}
