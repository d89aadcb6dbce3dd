import { usePortal, type RecoveryImage } from "@relicario/shared/contract";
import { ChoiceGroup, FieldError, maxImageNameLength, TextField } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { imageOf } from "../picture/picture-draft.ts";
import { PictureForm } from "../picture/PictureForm.tsx";
import { allImages, newImage, pictureProblem } from "./backup-draft.ts";
import { LostNotice } from "./LostNotice.tsx";
import type { StepProps } from "./step-props.ts";

interface PictureStepProps extends StepProps {
  /** Images in use, each of which may protect this secret too. */
  readonly images: readonly RecoveryImage[];
}

/** Route `/provide-image`: which picture is the key, and its passphrase. */
export function PictureStep({ draft, lost, images, onChange }: PictureStepProps) {
  const { t } = useTranslation("provide-image");
  const { navigate } = usePortal();
  const [asked, setAsked] = useState(false);
  const suggested = t("image.default_body", { number: images.length + 1 });
  const named = draft.imageName === null ? { ...draft, imageName: suggested } : draft;
  const told = asked ? pictureProblem(named) : null;
  const isNew = draft.image === newImage;

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setAsked(true);
    if (pictureProblem(named) !== null) return;
    if (named !== draft) onChange({ imageName: suggested });
    navigate("/provide-secret");
  };
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <FlowSteps flow="backup" step="picture" />
      <LostNotice lost={lost} />
      <form onSubmit={handleSubmit} noValidate>
        <Card>
          <Stack $gap={5}>
            {images.length > 0 && (
              <ChoiceGroup
                legend={t("image.which_label")}
                name="image"
                choices={[
                  ...images.map(({ id, name }) => ({ value: id, label: t("image.one_label", { name }) })),
                  ...(images.length > 1
                    ? [{ value: allImages, label: t("image.all_label"), hint: t("image.all_hint") }]
                    : []),
                  { value: newImage, label: t("image.new_label"), hint: t("image.new_hint") },
                ]}
                value={draft.image}
                onChange={(image) => {
                  onChange({ image });
                }}
              />
            )}
            {isNew && (
              <PictureForm
                purpose="choose"
                draft={draft.picture}
                disabled={false}
                error={told === "image_missing" ? t("problem.image_missing_error") : null}
                onChange={(picture) => {
                  onChange({ picture });
                }}
              />
            )}
            {isNew && draft.picture.standing.status === "examined" && imageOf(draft.picture.standing) === null && (
              <TextField
                label={t("image.name_label")}
                hint={t("image.name_hint")}
                error={
                  told === "image_name_missing"
                    ? t("problem.image_name_missing_error")
                    : told === "text_broken"
                      ? t("problem.text_broken_error")
                      : null
                }
                maxLength={maxImageNameLength}
                autoComplete="off"
                spellCheck={false}
                value={named.imageName ?? ""}
                onChange={(event) => {
                  onChange({ imageName: event.target.value });
                }}
              />
            )}
            {told !== null && <FieldError>{t("page.incomplete_error")}</FieldError>}
            <SpacedRow>
              <Button type="submit" size="large" data-tour="picture-next">
                {t("page.next_action")}
              </Button>
              <ButtonLink to="/welcome-backup" tone="quiet" size="large">
                {t("page.back_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      </form>
    </Page>
  );
}
