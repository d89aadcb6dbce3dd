import { usePortal, type Vault } from "@relicario/shared/contract";
import { Checkbox, ChoiceGroup, FieldError, PasswordField, StrengthMeter } from "@relicario/shared/forms";
import { Button, ErrorNotice, s, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { proposePassword } from "./proposed-password.ts";
import { passwordChoices, type ShareDraft } from "./share-draft.ts";
import { useDraftProblem } from "./useDraftProblem.ts";

interface PasswordSectionProps {
  readonly vault: Vault;
  readonly disabled: boolean;
  /** What is wrong with the picture that it asks for, in words. */
  readonly pictureError: string | null;
}

/**
 * What a link asks for beside itself: a password, four words unless the person says otherwise, and
 * a picture of its own.
 */
export function PasswordSection({ vault, disabled, pictureError }: PasswordSectionProps) {
  const { t } = useTranslation("beta-share");
  const { control, setValue, formState } = useFormContext<ShareDraft>();
  const problemText = useDraftProblem();
  const [password, own, asksPicture, picture] = useWatch({
    control,
    name: ["password", "own", "asksPicture", "picture"],
  });
  const { errors } = formState;
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
        }))}
        value={password}
        onChange={(value) => {
          setValue("password", value);
        }}
      />
      {password === "proposed" && <ProposedWords disabled={disabled} />}
      {password === "own" && (
        <div>
          <PasswordField
            label={t("create.own_label")}
            error={problemText(errors.own?.message)}
            disabled={disabled}
            value={own}
            onChange={(event) => {
              setValue("own", event.target.value, { shouldValidate: formState.isSubmitted });
            }}
          />
          <StrengthMeter passphrase={own} />
        </div>
      )}
      <Checkbox
        label={t("create.picture_label")}
        checked={asksPicture}
        disabled={disabled}
        onChange={(event) => {
          setValue("asksPicture", event.target.checked);
        }}
      />
      {asksPicture && (
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
          {errors.picture !== undefined && <FieldError>{problemText(errors.picture.message)}</FieldError>}
        </Stack>
      )}
    </Stack>
  );
}

function ProposedWords({ disabled }: { readonly disabled: boolean }) {
  const { t } = useTranslation("beta-share");
  const { language } = usePortal();
  const { control, setValue } = useFormContext<ShareDraft>();
  const proposed = useWatch({ control, name: "proposed" });
  const [failure, setFailure] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (proposed !== "") return undefined;
    let current = true;
    proposePassword(language).then(
      (words) => {
        if (current) setValue("proposed", words);
      },
      (error: unknown) => {
        if (current) setFailure(error);
      },
    );
    return () => {
      current = false;
    };
  }, [proposed, language, attempt, setValue]);
  if (failure !== null) {
    const retry = () => {
      setFailure(null);
      setAttempt(attempt + 1);
    };
    return <ErrorNotice error={failure} onRetry={retry} />;
  }
  return (
    <SpacedRow>
      <Words aria-label={t("create.words_aria")}>{proposed}</Words>
      <Button
        tone="quiet"
        size="small"
        disabled={disabled}
        icon={<RefreshCw aria-hidden />}
        onClick={() => {
          setValue("proposed", "");
        }}
      >
        {t("create.words_other_action")}
      </Button>
    </SpacedRow>
  );
}

export const Words = styled.output`
  display: block;
  min-height: 2.9em;
  padding: ${space(2)} ${space(4)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  line-height: 1.9;
  overflow-wrap: anywhere;
  user-select: all;
`;
