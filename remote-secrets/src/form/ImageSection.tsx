import type { RecoveryImage, Vault } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { ChoiceGroup, FieldError, maxImageNameLength, TextField, type Choice } from "@relicario/shared/forms";
import { Card, SectionTitle, Stack, useErrorMessage, useReleaseOpener } from "@relicario/shared/ui";
import type { TFunction } from "i18next";
import { useState } from "react";
import { Controller, useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useProblemText } from "./useProblemText.ts";
import { allImages, newImage, sameImages, type SecretDraft } from "./secret-draft.ts";

interface ImageSectionProps {
  readonly vault: Vault;
  readonly images: readonly RecoveryImage[];
  /** The last save failed because of the picture; shown at the picture field. */
  readonly pictureError: PortalError | null;
  /** Adds the choice "as it is". */
  readonly editing: boolean;
  readonly disabled: boolean;
}

/**
 * Which recovery images open the secret: those in use, or a new one with an optional passphrase.
 */
export function ImageSection({ vault, images, pictureError, editing, disabled }: ImageSectionProps) {
  const { t } = useTranslation("beta-add-secret");
  const { control } = useFormContext<SecretDraft>();
  const translateProblem = useProblemText();
  const isNew = useWatch({ control, name: "image" }) === newImage;
  useReleaseOpener(vault, useWatch({ control, name: "openerHandle" }));
  return (
    <Card aria-labelledby="add-secret-image" data-tour="add-secret-image">
      <Stack $gap={5}>
        <SectionTitle id="add-secret-image">{t("image.title")}</SectionTitle>
        {images.length > 0 && (
          <Controller
            control={control}
            name="image"
            render={({ field, fieldState }) => (
              <Stack $gap={2}>
                <ChoiceGroup
                  legend={t("image.which_label")}
                  name="image"
                  choices={buildImageChoices(images, editing, t)}
                  value={field.value}
                  disabled={disabled}
                  onChange={field.onChange}
                />
                {fieldState.error !== undefined && (
                  <FieldError>{translateProblem(fieldState.error.message)}</FieldError>
                )}
              </Stack>
            )}
          />
        )}
        {isNew && <NewImageFields vault={vault} pictureError={pictureError} disabled={disabled} />}
      </Stack>
    </Card>
  );
}

/**
 * The picture of a new image, and a name for it. A picture that turns out to be an image in use has
 * its name.
 */
function NewImageFields({
  vault,
  pictureError,
  disabled,
}: Pick<ImageSectionProps, "vault" | "pictureError" | "disabled">) {
  const { t } = useTranslation("beta-add-secret");
  const describeError = useErrorMessage();
  const { control, register, formState, resetField } = useFormContext<SecretDraft>();
  const translateProblem = useProblemText();
  const [inUse, setInUse] = useState(false);
  return (
    <>
      <Controller
        control={control}
        name="openerHandle"
        render={({ field, fieldState }) => (
          <vault.PictureField
            purpose="choose"
            value={field.value}
            disabled={disabled}
            error={
              translateProblem(fieldState.error?.message) ??
              (pictureError === null ? null : describeError(pictureError))
            }
            onChange={field.onChange}
            onRecognise={(image) => {
              setInUse(image !== null);
              if (image !== null) resetField("imageName"); // a name that was typed wrongly would stop the form, unseen
            }}
          />
        )}
      />
      {!inUse && (
        <TextField
          label={t("image.name_label")}
          hint={t("image.name_hint")}
          error={translateProblem(formState.errors.imageName?.message)}
          maxLength={maxImageNameLength}
          autoComplete="off"
          spellCheck={false}
          disabled={disabled}
          {...register("imageName")}
        />
      )}
    </>
  );
}

function buildImageChoices(
  images: readonly RecoveryImage[],
  editing: boolean,
  t: TFunction<readonly ["beta-add-secret", "errors"]>,
): readonly Choice<string>[] {
  const imageChoicesById = images.map(({ id, name }) => ({ value: id, label: t("image.one_label", { name }) }));
  const allChoice = { value: allImages, label: t("image.all_label"), hint: t("image.all_hint") };
  const newChoice = { value: newImage, label: t("image.new_label"), hint: t("image.new_hint") };
  const sameChoice = editing ? [{ value: sameImages, label: t("image.same_label"), hint: t("image.same_hint") }] : [];
  const onlyChoice = imageChoicesById[0];
  return [
    ...sameChoice,
    ...(images.length === 1 && onlyChoice !== undefined
      ? [{ ...onlyChoice, value: allImages }]
      : [allChoice, ...imageChoicesById]),
    newChoice,
  ];
}
