import { zodResolver } from "@hookform/resolvers/zod";
import {
  usePortal,
  type RecoveryImage,
  type SecretChange,
  type OpenerHandle,
  type Vault,
} from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Notice, SpacedRow, Stack, useReleaseOpener } from "@relicario/shared/ui";
import { useState } from "react";
import { FormProvider, useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { ImageSection } from "../form/ImageSection.tsx";
import { NamingSection } from "../form/NamingSection.tsx";
import { OpenerPrompt } from "../form/OpenerPrompt.tsx";
import { SaveProgress } from "../form/SaveProgress.tsx";
import { allImages, toProtectRequest, sameImages, SecretDraft } from "../form/secret-draft.ts";
import { UnsavedGuard } from "../form/UnsavedGuard.tsx";
import { useSave } from "../form/useSave.ts";
import { RemoveVersionsPanel } from "../history/RemoveVersionsPanel.tsx";
import { ConflictNotice } from "./ConflictNotice.tsx";
import { EditContentSection } from "./EditContentSection.tsx";
import { toSecretChange, type EditingSecret } from "./secret-change.ts";

interface EditSecretFormProps {
  readonly vault: Vault;
  /** The secret as it was when the edit started. */
  readonly editingSecret: EditingSecret;
  readonly images: readonly RecoveryImage[];
  readonly suggestions: readonly string[];
  /** The secret as the service has it now; null when it was deleted. */
  readonly refetchSecret: () => Promise<EditingSecret | null>;
}

/** A save that the service refused. */
interface SaveAttempt {
  readonly draft: SecretDraft;
  readonly change: SecretChange;
}

interface Conflict extends SaveAttempt {
  readonly theirs: EditingSecret;
}

/**
 * Saves against the version it started from. When another device saved first, nothing is
 * overwritten: the conflict is shown.
 */
export function EditSecretForm({ vault, editingSecret, images, suggestions, refetchSecret }: EditSecretFormProps) {
  const { t } = useTranslation("beta-add-secret");
  const { navigate, notify } = usePortal();
  /** Text of the content once it was opened; empty before, and for a file. */
  const [recoveredSecret, setRecoveredSecret] = useState("");
  /** The picture that opened it: it also opens what another device saved meanwhile. */
  const [editingKeepic, setEditingKeepic] = useState<OpenerHandle | null>(null);
  useReleaseOpener(vault, editingKeepic);
  const [redirect, setRedirect] = useState<{ readonly path: string } | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [deletedAttempt, setDeletedAttempt] = useState<SaveAttempt | null>(null);
  const [refetchError, setRefetchError] = useState<unknown>(null);
  const [unchanged, setUnchanged] = useState(false);
  const form = useForm<SecretDraft>({
    resolver: zodResolver(SecretDraft),
    defaultValues: {
      kind: editingSecret.contentKind,
      text: "",
      file: null,
      keepsContent: true,
      title: editingSecret.title,
      tags: [...editingSecret.tags],
      image: sameImages,
      imageName: t("image.default_body", { number: images.length + 1 }),
      openerHandle: null,
      isFirstSecret: false,
      emptyConfirmed: false,
    },
  });
  const { handleSubmit, formState } = form;
  const { saveState, save, cancel, clearFailure } = useSave();
  const running = saveState.status === "running";
  const failure = saveState.status === "failed" ? saveState.error : null;
  const pictureFailed = failure?.code.startsWith("picture_") === true;
  const needsOpener = failure?.code === "show_opener_first";

  const finishSave = (text: string) => {
    form.reset();
    notify({ tone: "success", text });
    setRedirect({ path: "/secrets" });
  };
  const update = (draft: SecretDraft, change: SecretChange) =>
    save({
      content: change.content?.content ?? null,
      run: (options) => vault.update(editingSecret.secretId, change, options),
      onSaved: () => {
        finishSave(t("edit.done_status"));
      },
      onSavedAfterUnmount: () => {
        notify({ tone: "success", text: t("edit.done_status") });
      },
      onFailed: (error: PortalError) => {
        if (error.code === "not_found") setDeletedAttempt({ draft, change });
        else if (error.code === "version_conflict") void showConflict({ draft, change });
        else return false;
        return true;
      },
    });
  const showConflict = async (attempt: SaveAttempt) => {
    try {
      const theirs = await refetchSecret();
      if (theirs === null) setDeletedAttempt(attempt);
      else setConflict({ ...attempt, theirs });
    } catch (error) {
      setRefetchError(error); // the draft is kept; the next save meets the conflict again
    }
  };
  const submit = handleSubmit(async (draft) => {
    const base = conflict?.theirs ?? editingSecret;
    const change = toSecretChange(draft, { ...editingSecret, version: base.version, rev: base.rev }, recoveredSecret);
    setUnchanged(change === null);
    setConflict(null);
    setDeletedAttempt(null);
    setRefetchError(null);
    if (change !== null) await update(draft, change);
  });
  const saveAsNew = ({ draft }: SaveAttempt) => {
    const request = toProtectRequest(draft.image === sameImages ? { ...draft, image: allImages } : draft);
    return save({
      content: request.content,
      run: (options) => vault.protect(request, options),
      onSaved: () => {
        finishSave(t("conflict.apart_status"));
      },
      onSavedAfterUnmount: () => {
        notify({ tone: "success", text: t("conflict.apart_status") });
      },
    });
  };

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <UnsavedGuard
          dirty={formState.isDirty && !(running && saveState.large)}
          saving={running}
          redirect={redirect}
          onLeave={navigate}
        />
        <Stack $gap={5}>
          {conflict !== null && (
            <ConflictNotice
              vault={vault}
              base={editingSecret}
              theirs={conflict.theirs}
              editingKeepic={editingKeepic}
              mine={{
                title: conflict.draft.title,
                tags: conflict.draft.tags,
                content: conflict.change.content,
                text: conflict.draft.text,
              }}
              disabled={running}
              onSaveMine={() => void submit()}
              onKeepTheirs={() => {
                form.reset();
                setRedirect({ path: "/secrets" });
              }}
              onSaveAsNew={conflict.change.content === undefined ? null : () => void saveAsNew(conflict)}
            />
          )}
          {deletedAttempt !== null && (
            <Notice
              tone="warn"
              role="alert"
              title={t("conflict.deleted_title")}
              actions={
                deletedAttempt.change.content === undefined ? undefined : (
                  <Button disabled={running} onClick={() => void saveAsNew(deletedAttempt)}>
                    {t("conflict.apart_action")}
                  </Button>
                )
              }
            >
              {t(deletedAttempt.change.content === undefined ? "conflict.deleted_names_body" : "conflict.deleted_body")}
            </Notice>
          )}
          <Card>
            <Stack $gap={5}>
              <NamingSection suggestions={suggestions} disabled={running} />
              <EditContentSection
                vault={vault}
                secret={editingSecret}
                disabled={running}
                onOpened={setRecoveredSecret}
                onOpenerHandedOver={setEditingKeepic}
                onContentKept={() => {
                  setRecoveredSecret("");
                }}
              />
            </Stack>
          </Card>
          <ImageSection
            vault={vault}
            images={images}
            pictureError={pictureFailed ? failure : null}
            editing
            disabled={running}
          />
          <SaveProgress saveState={saveState} />
          {needsOpener && <OpenerPrompt vault={vault} onUnlocked={() => void submit()} />}
          {!pictureFailed && !needsOpener && <ErrorNotice error={failure ?? refetchError} />}
          {failure?.code === "too_many_versions" && (
            <Card>
              <RemoveVersionsPanel vault={vault} secretId={editingSecret.secretId} onRemoved={clearFailure} />
            </Card>
          )}
          {unchanged && <Notice role="status">{t("edit.unchanged_status")}</Notice>}
          {formState.submitCount > 0 && Object.keys(formState.errors).length > 0 && (
            <FieldError>{t("save.incomplete_error")}</FieldError>
          )}
          {conflict === null && (
            <SpacedRow>
              <Button type="submit" size="large" pending={running} data-tour="add-secret-save">
                {t("edit.save_action")}
              </Button>
              {running && (
                <Button tone="quiet" size="large" onClick={cancel}>
                  {t("save.cancel_action")}
                </Button>
              )}
            </SpacedRow>
          )}
        </Stack>
      </form>
    </FormProvider>
  );
}
