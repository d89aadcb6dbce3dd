import { maxTagLength } from "@relicario/shared/api";
import { TagField, TextField } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { Controller, useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useProblemText } from "./useProblemText.ts";
import type { SecretDraft } from "./secret-draft.ts";

interface NamingSectionProps {
  readonly suggestions: readonly string[];
  readonly disabled: boolean;
}

export function NamingSection({ suggestions, disabled }: NamingSectionProps) {
  const { t } = useTranslation("beta-add-secret");
  const { control, register, formState } = useFormContext<SecretDraft>();
  const translateProblem = useProblemText();
  const { errors } = formState;
  return (
    <Stack $gap={5}>
      <div data-tour="add-secret-title">
        <TextField
          label={t("title.label")}
          hint={t("title.hint")}
          error={translateProblem(errors.title?.message)}
          autoComplete="off"
          spellCheck={false}
          disabled={disabled}
          {...register("title")}
        />
      </div>
      <div data-tour="add-secret-tags">
        <Controller
          control={control}
          name="tags"
          render={({ field, fieldState }) => (
            <TagField
              label={t("tags.label")}
              hint={t("tags.hint")}
              optional
              error={translateProblem(
                fieldState.error?.message ?? errors.tags?.find?.((tagError) => tagError !== undefined)?.message,
              )}
              value={field.value}
              suggestions={suggestions}
              maxLength={maxTagLength}
              disabled={disabled}
              onChange={field.onChange}
              onBlur={field.onBlur}
            />
          )}
        />
      </div>
    </Stack>
  );
}
