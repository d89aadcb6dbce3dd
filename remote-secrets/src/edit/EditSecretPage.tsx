import { usePortal, type RecoveryImage, type SecretRow } from "@relicario/shared/contract";
import { ButtonLink, Card, EmptyState, Loading, Page, Skeleton, Stack, useVaultState, useVault } from "@relicario/shared/ui";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FileQuestion } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useParams } from "react-router-dom";

import { imagesQuery, rowsQuery, tagsOf, useSecrets, vaultOf, type Secrets } from "../data/secrets.ts";
import { changeEditing, clearEdited, useEditing } from "../editing/editing-state.ts";
import { ReadFailureNotice } from "../notices/ReadFailureNotice.tsx";
import { UnlockNotice } from "../notices/UnlockNotice.tsx";
import { EditSecretForm } from "./EditSecretForm.tsx";
import { editingSecretOf } from "./secret-change.ts";

/** Changes a secret: the same screen as for a new one. What is edited is cleared when the screen is left. */
export default function EditSecretPage() {
  const { t } = useTranslation(["beta-add-secret", "beta-home", "file-upload"]);
  const { secretId = "" } = useParams();
  const secrets = useSecrets();
  useEffect(() => clearEdited, []);
  const unlocked = useVaultState(useVault()).status === "unlocked";
  const row = secrets.status === "ready" ? secrets.rows.find((each) => each.secretId === secretId) : undefined;

  // Once it has begun, the editing stays whatever becomes of the list: another device deletes the secret, the service is
  // away. What was typed goes only when the person leaves or the device is locked.
  const [begun, setBegun] = useState<SecretRow | null>(null);
  if (begun === null && unlocked && row?.label != null && row.deletedAt === null) setBegun(row);
  if (begun !== null && (!unlocked || begun.secretId !== secretId)) setBegun(null);
  return (
    <Page title={t("edit.title")} lead={t("edit.lead_body")}>
      {secrets.status !== "loading" && <ReadFailureNotice trouble={secrets.trouble} />}
      {secrets.status === "ready" && secrets.standing === "locked" && <UnlockNotice vault={secrets.vault} then={`/edit-secret/${secretId}`} reason="edit" />}
      {begun === null && isGone(secrets, row) && (
        <EmptyState icon={<FileQuestion />} title={t(row === undefined ? "edit.gone_title" : "edit.trashed_title")} actions={<ButtonLink to="/secrets">{t("edit.list_action")}</ButtonLink>}>
          <p>{t(row === undefined ? "edit.gone_body" : "edit.trashed_body")}</p>
        </EmptyState>
      )}
      {begun !== null && <Editing row={begun} rows={secrets.status === "ready" ? secrets.rows : []} />}
      {begun === null && isWaiting(secrets, row) && <LoadingForm />}
    </Page>
  );
}

function isGone(secrets: Secrets, row: SecretRow | undefined): boolean {
  if (secrets.status !== "ready" || secrets.standing === "locked") return false;
  return row === undefined ? secrets.opening === null : row.deletedAt !== null;
}

function isWaiting(secrets: Secrets, row: SecretRow | undefined): boolean {
  return secrets.status === "loading" || (secrets.status === "ready" && secrets.opening !== null && row === undefined);
}

interface EditingProps {
  readonly row: SecretRow;
  readonly rows: readonly SecretRow[];
}

/** The form begins with the secret as it is now, and keeps that beginning: a later one is a conflict to be shown. */
function Editing({ row, rows }: EditingProps) {
  const { user } = usePortal();
  const client = useQueryClient();
  const access = useVault();
  const state = useVaultState(access);
  const vault = vaultOf(access);
  const images = useQuery(imagesQuery(vault, user.userId, state.status));
  const { editingSecret } = useEditing();
  const [beginning, setBeginning] = useState<readonly RecoveryImage[] | null>(null);
  if (beginning === null && images.data !== undefined) setBeginning(images.data);
  useEffect(() => {
    changeEditing({ secretId: row.secretId, editingSecret: editingSecretOf(row) });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- what it was when the editing began
  }, [row.secretId]);

  const readAnew = async () => {
    const now = await client.query({ ...rowsQuery(vault, user.userId, state.status), staleTime: 0 });
    const found = now.find(({ secretId }) => secretId === row.secretId);
    return found === undefined ? null : editingSecretOf(found);
  };
  if (vault === null || beginning === null || editingSecret?.secretId !== row.secretId) return <LoadingForm />;
  return <EditSecretForm key={row.secretId} vault={vault} secret={editingSecret} images={beginning} suggestions={tagsOf(rows)} readAnew={readAnew} />;
}

function LoadingForm() {
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
