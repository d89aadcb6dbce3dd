import { requiredStrength, usePortal, type Vault } from "@relicario/shared/contract";
import {
  Checkbox,
  ChoiceGroup,
  FieldError,
  PasswordField,
  StrengthMeter,
  useStrength,
  VerbatimOutput,
} from "@relicario/shared/forms";
import { Button, ErrorNotice, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { proposePassword } from "./proposed-password.ts";
import { passwordChoices, type ShareDraft } from "./share-draft.ts";
import { useProblemText } from "./useProblemText.ts";

interface PasswordSectionProps {
  readonly vault: Vault;
  readonly disabled: boolean;
  readonly pictureError: string | null;
}

/**
 * Requirements of a link: a password, by default four words, and a picture chosen for this link.
 */
export function PasswordSection({ vault, disabled, pictureError }: PasswordSectionProps) {
  const { t } = useTranslation("beta-share");
  const { control, setValue, formState } = useFormContext<ShareDraft>();
  const translateProblem = useProblemText();
  const [passwordChoice, ownPassword, requiresPicture, picture] = useWatch({
    control,
    name: ["passwordChoice", "ownPassword", "requiresPicture", "picture"],
  });
  const { errors } = formState;
  const strength = useStrength(ownPassword);
  const tooWeak = typeof strength === "number" && strength < requiredStrength;
  useEffect(() => {
    setValue("ownPasswordTooWeak", tooWeak);
  }, [setValue, tooWeak]);
  const details = {
    proposed: <ProposedPassword disabled={disabled} />,
    own: (
      <Stack $gap={3}>
        <PasswordField
          label={t("create.own_label")}
          error={translateProblem(errors.ownPassword?.message)}
          disabled={disabled}
          value={ownPassword}
          onChange={(event) => {
            setValue("ownPassword", event.target.value, { shouldValidate: formState.isSubmitted });
          }}
        />
        <StrengthMeter passphrase={ownPassword} level={strength} least={requiredStrength} />
      </Stack>
    ),
    none: undefined,
  };
  return (
    <Stack $gap={4}>
      <ChoiceGroup
        legend={t("create.password_label")}
        name="share-password"
        disabled={disabled}
        choices={passwordChoices.map((value) => ({
          value,
          label: t(`create.password_${value}_label`),
          hint: t(`create.password_${value}_hint`),
          detail: details[value],
        }))}
        value={passwordChoice}
        onChange={(value) => {
          setValue("passwordChoice", value);
        }}
      />
      <Checkbox
        label={t("create.picture_label")}
        checked={requiresPicture}
        disabled={disabled}
        onChange={(event) => {
          setValue("requiresPicture", event.target.checked);
        }}
      />
      {requiresPicture && (
        <Stack $gap={3}>
          <SmallText>{t("create.picture_hint")}</SmallText>
          <vault.PictureField
            purpose="share"
            value={picture}
            disabled={disabled}
            error={pictureError}
            onChange={(value) => {
              setValue("picture", value, { shouldValidate: formState.isSubmitted });
            }}
          />
          {errors.picture !== undefined && <FieldError>{translateProblem(errors.picture.message)}</FieldError>}
        </Stack>
      )}
    </Stack>
  );
}

function ProposedPassword({ disabled }: { readonly disabled: boolean }) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const { control, setValue } = useFormContext<ShareDraft>();
  const proposedPassword = useWatch({ control, name: "proposedPassword" });
  const [failure, setFailure] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (proposedPassword !== "") return undefined;
    let current = true;
    proposePassword(language).then(
      (words) => {
        if (current) setValue("proposedPassword", words);
      },
      (error: unknown) => {
        if (current) setFailure(error);
      },
    );
    return () => {
      current = false;
    };
  }, [proposedPassword, language, attempt, setValue]);
  if (failure !== null) {
    const retry = () => {
      setFailure(null);
      setAttempt(attempt + 1);
    };
    return <ErrorNotice error={failure} onRetry={retry} />;
  }
  return (
    <SpacedRow>
      <VerbatimOutput aria-label={t("create.words_aria")}>{proposedPassword}</VerbatimOutput>
      <Button
        tone="quiet"
        size="small"
        disabled={disabled}
        icon={<RefreshCw aria-hidden />}
        onClick={() => {
          setValue("proposedPassword", "");
        }}
      >
        {t("create.words_other_action")}
      </Button>
    </SpacedRow>
  );
}
