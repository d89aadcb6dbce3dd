import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type RecoveryImage, type SecretChange, type Vault } from "@relicario/shared/contract";
import { FieldError, formatContentText, getDraftText } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { FormProvider, useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { ImageSection } from "../form/ImageSection.tsx";
import { NamingSection } from "../form/NamingSection.tsx";
import { SaveOpenerPrompt } from "../form/SaveOpenerPrompt.tsx";
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
  readonly editingSecret: EditingSecret;
  readonly images: readonly RecoveryImage[];
  readonly suggestions: readonly string[];
  /** Reads the secret again. Resolves with null if it was deleted. */
  readonly refetchSecret: () => Promise<EditingSecret | null>;
}

interface SaveAttempt {
  readonly draft: SecretDraft;
  readonly change: SecretChange;
}

interface Conflict extends SaveAttempt {
  readonly theirs: EditingSecret;
}

/**
 * Saves on the basis of the version from which the edit started. A conflict is shown and overwrites
 * nothing.
 */
export function EditSecretForm({ vault, editingSecret, images, suggestions, refetchSecret }: EditSecretFormProps) {
  const { t } = useTranslation("beta-add-secret");
  const { navigate, notify } = usePortal();
  /** The opened text. Empty before the content was opened, and for a file. */
  const [recoveredSecret, setRecoveredSecret] = useState("");
  /** The opener that opened the content. It also opens the other version in a conflict. */
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
      record: [],
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
  const { operation, savesInBackground, save } = useSave(vault);
  const { running, progress, error, asksOpener, cancel } = operation;
  /** Not for conflicts, which have their own notices. */
  const failure = error?.code === "not_found" || error?.code === "version_conflict" ? null : error;
  const pictureFailed = !asksOpener && failure?.code.startsWith("picture_") === true;

  const finishSave = (text: string) => {
    form.reset();
    notify({ tone: "success", text });
    setRedirect({ path: "/secrets" });
  };
  const update = (draft: SecretDraft, change: SecretChange) => {
    save({
      content: change.content?.content ?? null,
      run: (options) => vault.update(editingSecret.secretId, change, options),
      onSaved: () => {
        finishSave(t("edit.done_status"));
      },
      onFailed: ({ code }) => {
        if (code === "not_found") setDeletedAttempt({ draft, change });
        if (code === "version_conflict") void showConflict({ draft, change });
      },
    });
  };
  const showConflict = async (attempt: SaveAttempt) => {
    try {
      const theirs = await refetchSecret();
      if (theirs === null) setDeletedAttempt(attempt);
      else setConflict({ ...attempt, theirs });
    } catch (error) {
      setRefetchError(error); // the draft stays, and the next save causes the conflict again
    }
  };
  const submit = handleSubmit((draft) => {
    const base = conflict?.theirs ?? editingSecret;
    const change = toSecretChange(draft, { ...editingSecret, version: base.version, rev: base.rev }, recoveredSecret);
    setUnchanged(change === null);
    setConflict(null);
    setDeletedAttempt(null);
    setRefetchError(null);
    if (change !== null) update(draft, change);
  });
  const saveAsNew = ({ draft }: SaveAttempt) => {
    const request = toProtectRequest(draft.image === sameImages ? { ...draft, image: allImages } : draft);
    save({
      content: request.content,
      run: (options) => vault.protect(request, options),
      onSaved: () => {
        finishSave(t("conflict.apart_status"));
      },
    });
  };

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <UnsavedGuard
          dirty={formState.isDirty && !(running && savesInBackground)}
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
              mine={{
                title: conflict.draft.title,
                tags: conflict.draft.tags,
                content: conflict.change.content,
                text: formatContentText(conflict.draft.kind, getDraftText(conflict.draft)),
              }}
              disabled={running}
              onSaveMine={() => void submit()}
              onKeepTheirs={() => {
                form.reset();
                setRedirect({ path: "/secrets" });
              }}
              onSaveAsNew={
                conflict.change.content === undefined
                  ? null
                  : () => {
                      saveAsNew(conflict);
                    }
              }
            />
          )}
          {deletedAttempt !== null && (
            <Notice
              tone="warn"
              role="alert"
              title={t("conflict.deleted_title")}
              actions={
                deletedAttempt.change.content === undefined ? undefined : (
                  <Button
                    disabled={running}
                    onClick={() => {
                      saveAsNew(deletedAttempt);
                    }}
                  >
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
          {running && !asksOpener && <SaveProgress progress={progress} inBackground={savesInBackground} />}
          {asksOpener && <SaveOpenerPrompt vault={vault} operation={operation} onSubmit={() => void submit()} />}
          {!pictureFailed && !asksOpener && <ErrorNotice error={failure ?? refetchError} />}
          {failure?.code === "too_many_versions" && (
            <Card>
              <RemoveVersionsPanel vault={vault} secretId={editingSecret.secretId} onRemoved={cancel} />
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
              {running && !asksOpener && (
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
