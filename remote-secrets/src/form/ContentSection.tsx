import { TextArea } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { Controller, useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { SeedField } from "../seed/SeedField.tsx";
import { FileField } from "./FileField.tsx";
import { KindChoice } from "./KindChoice.tsx";
import { useProblemText } from "./useProblemText.ts";
import { titleOfFile, type SecretDraft } from "./secret-draft.ts";

interface ContentSectionProps {
  readonly disabled: boolean;
}

/** Kind and content. Text and file are separate fields of the draft, so switching the kind loses neither. */
export function ContentSection({ disabled }: ContentSectionProps) {
  const { t } = useTranslation("beta-add-secret");
  const { control, register, setValue, getValues, formState } = useFormContext<SecretDraft>();
  const problemText = useProblemText();
  const kind = useWatch({ control, name: "kind" });
  const { errors, isSubmitted } = formState;
  return (
    <Stack $gap={5}>
      <Controller control={control} name="kind" render={({ field }) => <KindChoice value={field.value} disabled={disabled} onChange={field.onChange} />} />
      <div data-tour="add-secret-content">
        {kind === "text" && (
          <TextArea
            mono
            rows={6}
            label={t("content.label")}
            hint={t("content.hint")}
            error={problemText(errors.text?.message)}
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            disabled={disabled}
            {...register("text")}
          />
        )}
        {kind === "seed" && (
          <Controller
            control={control}
            name="text"
            render={({ field, fieldState }) => (
              <SeedField value={field.value} disabled={disabled} error={problemText(fieldState.error?.message)} fieldRef={field.ref} onBlur={field.onBlur} onChange={field.onChange} />
            )}
          />
        )}
        {kind === "file" && (
          <Controller
            control={control}
            name="file"
            render={({ field, fieldState }) => (
              <FileField
                value={field.value}
                disabled={disabled}
                error={problemText(fieldState.error?.message)}
                onChange={(file) => {
                  field.onChange(file);
                  if (getValues("title") === "") setValue("title", titleOfFile(file.name), { shouldDirty: true, shouldValidate: isSubmitted });
                }}
              />
            )}
          />
        )}
      </div>
    </Stack>
  );
}
