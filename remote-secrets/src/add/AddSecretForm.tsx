import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type RecoveryImage, type Vault } from "@relicario/shared/contract";
import { Checkbox, FieldError } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { FormProvider, useForm, useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useSaving } from "../form/useSaving.ts";
import { ContentSection } from "../form/ContentSection.tsx";
import { ImageSection } from "../form/ImageSection.tsx";
import { NamingSection } from "../form/NamingSection.tsx";
import { OpenerFirst } from "../form/OpenerFirst.tsx";
import { useProblemText } from "../form/useProblemText.ts";
import { SavingProgress } from "../form/SavingProgress.tsx";
import { allImages, newImage, protectRequestOf, SecretDraft } from "../form/secret-draft.ts";
import { UnsavedGuard } from "../form/UnsavedGuard.tsx";

interface AddSecretFormProps {
  readonly vault: Vault;
  /** The account is empty: saving creates its keys. */
  readonly first: boolean;
  readonly images: readonly RecoveryImage[];
  /** Tags in use, offered for completion. */
  readonly suggestions: readonly string[];
}

export function AddSecretForm({ vault, first, images, suggestions }: AddSecretFormProps) {
  const { t } = useTranslation("beta-add-secret");
  const { navigate, notify } = usePortal();
  const [saved, setSaved] = useState<{ readonly path: string } | null>(null);
  const form = useForm<SecretDraft>({
    resolver: zodResolver(SecretDraft),
    defaultValues: {
      kind: "text",
      text: "",
      file: null,
      contentKept: false,
      title: "",
      tags: [],
      image: images.length === 0 ? newImage : allImages,
      imageName: t("image.default_body", { number: images.length + 1 }),
      shown: null,
      first,
      promised: false,
    },
  });
  const { handleSubmit, formState } = form;
  const { saving, save, cancel } = useSaving();
  const running = saving.status === "running";
  const failure = saving.status === "failed" ? saving.error : null;
  const pictureFailed = failure?.code.startsWith("picture_") === true;
  const openerFirst = failure?.code === "show_opener_first";
  const { errors } = formState;

  const notifySaved = () => {
    notify({ tone: "success", text: t("save.done_status") });
  };
  const submit = handleSubmit((draft) => {
    const request = protectRequestOf(draft);
    return save({
      content: request.content,
      run: (options) => vault.protect(request, options),
      onSaved: ({ secretId }) => {
        form.reset(); // drops the plaintext now, not when the page unmounts
        notifySaved();
        setSaved({
          path:
            draft.image === newImage ? `/congrats?${new URLSearchParams({ secret: secretId }).toString()}` : "/secrets",
        });
      },
      onSavedElsewhere: notifySaved,
    });
  });

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <UnsavedGuard
          dirty={formState.isDirty && !(running && saving.large)}
          saving={running}
          saved={saved}
          onLeave={navigate}
        />
        <Stack $gap={5}>
          <Card>
            <Stack $gap={5}>
              <ContentSection disabled={running} />
              <NamingSection suggestions={suggestions} disabled={running} />
            </Stack>
          </Card>
          <ImageSection
            vault={vault}
            images={images}
            pictureError={pictureFailed ? failure : null}
            editing={false}
            disabled={running}
          />
          {first && <FirstPromise disabled={running} />}
          <SavingProgress saving={saving} />
          {openerFirst && <OpenerFirst vault={vault} onShown={() => void submit()} />}
          {!pictureFailed && !openerFirst && <ErrorNotice error={failure} />}
          {formState.submitCount > 0 && Object.keys(errors).length > 0 && (
            <FieldError>{t("save.incomplete_error")}</FieldError>
          )}
          <SpacedRow>
            <Button type="submit" size="large" pending={running} data-tour="add-secret-save">
              {t("save.action")}
            </Button>
            {running && (
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
 * The service says that the account is empty. Only the person can know that it is not, so this must
 * be confirmed before new keys are made.
 */
function FirstPromise({ disabled }: { readonly disabled: boolean }) {
  const { t } = useTranslation("beta-add-secret");
  const { register, formState } = useFormContext<SecretDraft>();
  const problemText = useProblemText();
  return (
    <Notice tone="warn" title={t("first.title")}>
      <p>{t("first.body")}</p>
      <Checkbox
        label={t("first.label")}
        error={problemText(formState.errors.promised?.message)}
        disabled={disabled}
        {...register("promised")}
      />
    </Notice>
  );
}
