import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type RecoveryImage, type Vault } from "@relicario/shared/contract";
import { Checkbox, FieldError } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { FormProvider, useForm, useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useSave } from "../form/useSave.ts";
import { ContentSection } from "../form/ContentSection.tsx";
import { ImageSection } from "../form/ImageSection.tsx";
import { NamingSection } from "../form/NamingSection.tsx";
import { SaveOpenerPrompt } from "../form/SaveOpenerPrompt.tsx";
import { useProblemText } from "../form/useProblemText.ts";
import { SaveProgress } from "../form/SaveProgress.tsx";
import { allImages, newImage, toProtectRequest, SecretDraft } from "../form/secret-draft.ts";
import { UnsavedGuard } from "../form/UnsavedGuard.tsx";
import { HandoverSection } from "./HandoverSection.tsx";

interface AddSecretFormProps {
  readonly vault: Vault;
  /** False while the vault's frame is gone and another one loads. */
  readonly isVaultReady: boolean;
  /** Whether the account is empty, so that saving creates its keys. */
  readonly isFirstSecret: boolean;
  readonly images: readonly RecoveryImage[];
  readonly suggestions: readonly string[];
}

export function AddSecretForm({ vault, isVaultReady, isFirstSecret, images, suggestions }: AddSecretFormProps) {
  const { t } = useTranslation("beta-add-secret");
  const { navigate, notify } = usePortal();
  const [redirect, setRedirect] = useState<{ readonly path: string } | null>(null);
  const [receiving, setReceiving] = useState(false);
  const form = useForm<SecretDraft>({
    resolver: zodResolver(SecretDraft),
    defaultValues: {
      kind: "text",
      text: "",
      record: [],
      file: null,
      keepsContent: false,
      title: "",
      tags: [],
      image: images.length === 0 ? newImage : allImages,
      imageName: t("image.default_body", { number: images.length + 1 }),
      openerHandle: null,
      isFirstSecret,
      emptyConfirmed: false,
    },
  });
  const { handleSubmit, formState, setValue } = form;
  useEffect(() => {
    setValue("openerHandle", null); // one of another vault is not valid
  }, [vault, setValue]);
  const { operation, savesInBackground, save } = useSave(vault);
  const { running, progress, error: failure, asksOpener, cancel } = operation;
  const pictureFailed = !asksOpener && failure?.code.startsWith("picture_") === true;
  const { errors } = formState;

  const submit = handleSubmit((draft) => {
    const request = toProtectRequest(draft);
    save({
      content: request.content,
      run: (options) => vault.protect(request, options),
      onSaved: ({ secretId }) => {
        form.reset(); // drops the plaintext now, earlier than on unmount
        notify({ tone: "success", text: t("save.done_status") });
        setRedirect({
          path:
            draft.image === newImage ? `/congrats?${new URLSearchParams({ secret: secretId }).toString()}` : "/secrets",
        });
      },
    });
  });

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
          <Card>
            <Stack $gap={5}>
              <HandoverSection
                offered={!formState.isDirty}
                disabled={running}
                onWait={setReceiving}
                onReceive={({ name, text }) => {
                  form.setValue("kind", "text", { shouldDirty: true });
                  form.setValue("text", text, { shouldDirty: true });
                  form.setValue("title", name, { shouldDirty: true });
                }}
              />
              <ContentSection disabled={running || receiving} />
              <NamingSection suggestions={suggestions} disabled={running || receiving} />
            </Stack>
          </Card>
          <ImageSection
            vault={vault}
            isVaultReady={isVaultReady}
            images={images}
            pictureError={pictureFailed ? failure : null}
            editing={false}
            disabled={running}
          />
          {isFirstSecret && <EmptyAccountConfirmation disabled={running} />}
          {running && !asksOpener && <SaveProgress progress={progress} inBackground={savesInBackground} />}
          {asksOpener && isVaultReady && (
            <SaveOpenerPrompt vault={vault} operation={operation} onSubmit={() => void submit()} />
          )}
          {!pictureFailed && !asksOpener && <ErrorNotice error={failure} />}
          {formState.submitCount > 0 && Object.keys(errors).length > 0 && (
            <FieldError>{t("save.incomplete_error")}</FieldError>
          )}
          <SpacedRow>
            <Button type="submit" size="large" pending={running} data-tour="add-secret-save">
              {t("save.action")}
            </Button>
            {running && !asksOpener && (
              <Button tone="quiet" size="large" onClick={cancel}>
                {t("save.cancel_action")}
              </Button>
            )}
          </SpacedRow>
        </Stack>
      </form>
    </FormProvider>
  );
}

/**
 * Asks for confirmation before new keys are created, because the service says that the account is
 * empty. Only the person can know that this is wrong.
 */
function EmptyAccountConfirmation({ disabled }: { readonly disabled: boolean }) {
  const { t } = useTranslation("beta-add-secret");
  const { register, formState } = useFormContext<SecretDraft>();
  const translateProblem = useProblemText();
  return (
    <Notice tone="warn" title={t("first.title")}>
      <p>{t("first.body")}</p>
      <Checkbox
        label={t("first.label")}
        error={translateProblem(formState.errors.emptyConfirmed?.message)}
        disabled={disabled}
        {...register("emptyConfirmed")}
      />
    </Notice>
  );
}
