import { FileField, KindChoice, RecordEditor, SecretTextArea, SeedField, suggestTitle } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { Controller, useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useProblemText } from "./useProblemText.ts";
import type { SecretDraft } from "./secret-draft.ts";

interface ContentSectionProps {
  readonly disabled: boolean;
}

/**
 * Fields for kind and content. Text, record and file are separate fields, so that changing the kind
 * loses none of them.
 */
export function ContentSection({ disabled }: ContentSectionProps) {
  const { t } = useTranslation(["beta-add-secret", "file-upload"]);
  const { control, register, setValue, getValues, formState } = useFormContext<SecretDraft>();
  const translateProblem = useProblemText();
  const kind = useWatch({ control, name: "kind" });
  const { errors, isSubmitted } = formState;
  return (
    <Stack $gap={5}>
      <div data-tour="add-secret-start">
        <Controller
          control={control}
          name="kind"
          render={({ field }) => (
            <KindChoice legend={t("kind.label")} value={field.value} disabled={disabled} onChange={field.onChange} />
          )}
        />
      </div>
      <div data-tour="add-secret-content">
        {kind === "text" && (
          <SecretTextArea
            label={t("content.label")}
            hint={t("content.hint")}
            error={translateProblem(errors.text?.message)}
            disabled={disabled}
            {...register("text")}
          />
        )}
        {kind === "seed" && (
          <Controller
            control={control}
            name="text"
            render={({ field, fieldState }) => (
              <SeedField
                value={field.value}
                disabled={disabled}
                error={translateProblem(fieldState.error?.message)}
                fieldRef={field.ref}
                onBlur={field.onBlur}
                onChange={field.onChange}
              />
            )}
          />
        )}
        {kind === "record" && (
          <Controller
            control={control}
            name="record"
            render={({ field, fieldState }) => (
              <RecordEditor
                value={field.value}
                disabled={disabled}
                error={translateProblem(fieldState.error?.message)}
                onChange={field.onChange}
              />
            )}
          />
        )}
        {kind === "file" && (
          <Controller
            control={control}
            name="file"
            render={({ field, fieldState }) => (
              <FileField
                label={t("file-upload:choose.file_aria")}
                placeholder={t("file-upload:choose.start_body")}
                hint={t("file-upload:choose.cloud_hint")}
                value={field.value}
                disabled={disabled}
                error={translateProblem(fieldState.error?.message)}
                onChange={(file) => {
                  field.onChange(file);
                  if (getValues("title") === "")
                    setValue("title", suggestTitle(file.name), { shouldDirty: true, shouldValidate: isSubmitted });
                }}
              />
            )}
          />
        )}
      </div>
    </Stack>
  );
}
