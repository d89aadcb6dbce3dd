import { zodResolver } from "@hookform/resolvers/zod";
import { maxTagLength } from "@relicario/shared/api";
import { usePortal, type RecoveryImage, type Vault } from "@relicario/shared/contract";
import {
  Button,
  Card,
  Checkbox,
  ChoiceGroup,
  ErrorNotice,
  FieldError,
  Notice,
  Progress,
  SectionTitle,
  SpacedRow,
  Stack,
  TagField,
  TextArea,
  TextField,
  type Choice,
} from "@relicario/shared/ui";
import type { TFunction } from "i18next";
import { useState } from "react";
import { Controller, useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useProtect } from "../data/protect.ts";
import { allImages, isDraftProblem, maxImageNameLength, newImage, protectRequestOf, SecretDraft } from "./secret-draft.ts";
import { UnsavedGuard } from "./UnsavedGuard.tsx";

interface AddSecretFormProps {
  readonly vault: Vault;
  /** Nothing was ever kept here: what is made now is the beginning of everything. */
  readonly first: boolean;
  readonly images: readonly RecoveryImage[];
  /** Tags in use. */
  readonly suggestions: readonly string[];
}

export function AddSecretForm({ vault, first, images, suggestions }: AddSecretFormProps) {
  const { t } = useTranslation(["beta-add-secret", "errors"]);
  const { navigate, notify } = usePortal();
  const [saved, setSaved] = useState<{ readonly path: string } | null>(null);
  const form = useForm({
    resolver: zodResolver(SecretDraft),
    defaultValues: {
      text: "",
      title: "",
      tags: [],
      image: images.length === 0 ? newImage : allImages,
      imageName: t("image.default_body", { number: images.length + 1 }),
      shown: null,
      first,
      promised: false,
    },
  });
  const { register, control, handleSubmit, formState } = form;
  const isNew = useWatch({ control, name: "image" }) === newImage;
  const { saving, protect, cancel } = useProtect((secretId) => {
    form.reset(); // the text is not kept a moment longer than it is needed
    notify({ tone: "success", text: t("save.done_status") });
    setSaved({ path: isNew ? `/congrats?${new URLSearchParams({ secret: secretId }).toString()}` : "/secrets" });
  });
  const running = saving.status === "running";
  const failure = saving.status === "failed" ? saving.error : null;
  const pictureFailed = failure !== null && isNew && failure.code.startsWith("picture_");

  const words = (message: string | undefined): string | null => (message === undefined ? null : isDraftProblem(message) ? t(`problem.${message}_error`) : t("errors:unknown"));
  const errors = formState.errors;
  const submit = handleSubmit((draft) => protect(vault, protectRequestOf(draft)));

  return (
    <form onSubmit={(event) => void submit(event)} noValidate data-tour="add-secret-start">
      <UnsavedGuard dirty={formState.isDirty} saved={saved} onLeave={navigate} />
      <Stack $gap={5}>
        <Card>
          <fieldset disabled={running}>
            <Stack $gap={5}>
              <div data-tour="add-secret-content">
                <TextArea
                  mono
                  rows={6}
                  label={t("content.label")}
                  hint={t("content.hint")}
                  error={words(errors.text?.message)}
                  autoComplete="off"
                  autoCapitalize="none"
                  autoCorrect="off"
                  spellCheck={false}
                  {...register("text")}
                />
              </div>
              <TextField
                label={t("title.label")}
                hint={t("title.hint")}
                error={words(errors.title?.message)}
                autoComplete="off"
                spellCheck={false}
                {...register("title")}
              />
              <div data-tour="add-secret-tags">
                <Controller
                  control={control}
                  name="tags"
                  render={({ field, fieldState }) => (
                    <TagField
                      label={t("tags.label")}
                      hint={t("tags.hint")}
                      optional
                      error={words(fieldState.error?.message ?? errors.tags?.find?.((each) => each !== undefined)?.message)}
                      value={field.value}
                      suggestions={suggestions}
                      maxLength={maxTagLength}
                      onChange={field.onChange}
                      onBlur={field.onBlur}
                    />
                  )}
                />
              </div>
            </Stack>
          </fieldset>
        </Card>

        <Card aria-labelledby="add-secret-image" data-tour="add-secret-image">
          <Stack $gap={5}>
            <SectionTitle id="add-secret-image">{t("image.title")}</SectionTitle>
            {images.length > 0 && (
              <Controller
                control={control}
                name="image"
                render={({ field }) => (
                  <ChoiceGroup legend={t("image.which_label")} name="image" choices={imageChoices(images, t)} value={field.value} disabled={running} onChange={field.onChange} />
                )}
              />
            )}
            {isNew && (
              <>
                <Controller
                  control={control}
                  name="shown"
                  render={({ field, fieldState }) => (
                    <vault.PictureField
                      purpose="choose"
                      value={field.value}
                      disabled={running}
                      error={words(fieldState.error?.message) ?? (pictureFailed ? t(`errors:${failure.code}`) : null)}
                      onChange={(value) => {
                        field.onChange(value);
                      }}
                    />
                  )}
                />
                <TextField
                  label={t("image.name_label")}
                  hint={t("image.name_hint")}
                  error={words(errors.imageName?.message)}
                  maxLength={maxImageNameLength}
                  autoComplete="off"
                  spellCheck={false}
                  disabled={running}
                  {...register("imageName")}
                />
              </>
            )}
          </Stack>
        </Card>

        {first && (
          <Notice tone="warn" title={t("first.title")}>
            <Checkbox label={t("first.label")} error={words(errors.promised?.message)} disabled={running} {...register("promised")} />
          </Notice>
        )}
        {running && <Progress label={t(`progress.${saving.progress?.phase ?? "picture"}_status`)} done={saving.progress?.done ?? 0} total={saving.progress?.total ?? 0} />}
        {!pictureFailed && <ErrorNotice error={failure} />}
        {formState.submitCount > 0 && Object.keys(errors).length > 0 && <FieldError>{t("save.incomplete_error")}</FieldError>}
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
  );
}

function imageChoices(images: readonly RecoveryImage[], t: TFunction<readonly ["beta-add-secret", "errors"]>): readonly Choice<string>[] {
  const each = images.map(({ id, name }) => ({ value: id, label: t("image.one_label", { name }) }));
  const all = { value: allImages, label: t("image.all_label"), hint: t("image.all_hint") };
  const fresh = { value: newImage, label: t("image.new_label"), hint: t("image.new_hint") };
  const only = each[0];
  return images.length === 1 && only !== undefined ? [{ ...only, value: allImages }, fresh] : [all, ...each, fresh];
}
