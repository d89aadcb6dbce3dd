import type { RecoveryImage, Vault } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { ChoiceGroup, FieldError, maxImageNameLength, TextField, type Choice } from "@relicario/shared/forms";
import { Card, SectionTitle, Skeleton, Stack, useErrorMessage, useReleaseOpener } from "@relicario/shared/ui";
import type { TFunction } from "i18next";
import { useState } from "react";
import { Controller, useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useProblemText } from "./useProblemText.ts";
import { allImages, newImage, sameImages, type SecretDraft } from "./secret-draft.ts";

interface ImageSectionProps {
  readonly vault: Vault;
  /** False while the vault's frame is gone and another one loads. */
  readonly isVaultReady?: boolean;
  readonly images: readonly RecoveryImage[];
  /** Failure of the last save, which is shown at the picture field. */
  readonly pictureError: PortalError | null;
  /** Whether to offer the choice "same images". */
  readonly editing: boolean;
  readonly disabled: boolean;
}

/** Chooses the recovery images that open the secret, or a new image with an optional passphrase. */
export function ImageSection({
  vault,
  isVaultReady = true,
  images,
  pictureError,
  editing,
  disabled,
}: ImageSectionProps) {
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
        {isNew && (
          <NewImageFields vault={vault} isVaultReady={isVaultReady} pictureError={pictureError} disabled={disabled} />
        )}
      </Stack>
    </Card>
  );
}

/**
 * Fields for picture and name of a new image. A picture that is already an image in use has a name.
 */
function NewImageFields({
  vault,
  isVaultReady,
  pictureError,
  disabled,
}: Pick<ImageSectionProps, "vault" | "pictureError" | "disabled"> & { readonly isVaultReady: boolean }) {
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
        render={({ field, fieldState }) =>
          isVaultReady ? (
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
                // an invalid name in a hidden field would block the form
                if (image !== null) resetField("imageName");
              }}
            />
          ) : (
            <Skeleton height="180px" />
          )
        }
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
