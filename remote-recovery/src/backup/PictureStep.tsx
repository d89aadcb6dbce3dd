import { usePortal, type RecoveryImage, type Vault } from "@relicario/shared/contract";
import { ChoiceGroup, FieldError, maxImageNameLength, TextField } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { setCaptureSaved } from "../elements/saved-capture.ts";
import { getVaultElement } from "../elements/vault-elements.tsx";
import { allImages, newImage, findPictureProblem } from "./backup-draft.ts";
import { DraftLostNotice } from "./DraftLostNotice.tsx";
import type { StepProps } from "./step-props.ts";

interface PictureStepProps extends StepProps {
  readonly vault: Vault;
  readonly images: readonly RecoveryImage[];
}

/** Route `/provide-image`: chooses the recovery image and its passphrase. */
export function PictureStep({ vault, draft, lossReason, images, onChange }: PictureStepProps) {
  const { t } = useTranslation("provide-image");
  const { navigate, onLock } = usePortal();
  const [submitted, setSubmitted] = useState(false);
  const [VaultElement] = useState(() => getVaultElement(vault));
  const suggestedName = t("image.default_body", { number: images.length + 1 });
  const namedDraft = draft.imageName === null ? { ...draft, imageName: suggestedName } : draft;
  const visibleProblem = submitted ? findPictureProblem(namedDraft) : null;
  const isNew = draft.image === newImage;

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (findPictureProblem(namedDraft) !== null) return;
    if (namedDraft !== draft) onChange({ imageName: suggestedName });
    navigate("/provide-secret");
  };
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <FlowSteps flow="backup" step="picture" />
      <DraftLostNotice lossReason={lossReason} />
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
              <Stack $gap={3}>
                <VaultElement
                  field={{ kind: "picture", purpose: "choose", pictureOnly: true, keepsDraft: true, search: null }}
                  heldId={draft.picture.heldId}
                  onChange={(picture) => {
                    setCaptureSaved(picture.captureSaved, { onLock });
                    onChange({ picture });
                  }}
                />
                {(visibleProblem === "image_missing" ||
                  visibleProblem === "passphrase_missing" ||
                  visibleProblem === "image_unsaved") && (
                  <FieldError>{t(`problem.${visibleProblem}_error`)}</FieldError>
                )}
              </Stack>
            )}
            {isNew && draft.picture.examined && draft.picture.known === null && (
              <TextField
                label={t("image.name_label")}
                hint={t("image.name_hint")}
                error={
                  visibleProblem === "image_name_missing"
                    ? t("problem.image_name_missing_error")
                    : visibleProblem === "text_broken"
                      ? t("problem.text_broken_error")
                      : null
                }
                maxLength={maxImageNameLength}
                autoComplete="off"
                spellCheck={false}
                value={namedDraft.imageName ?? ""}
                onChange={(event) => {
                  onChange({ imageName: event.target.value });
                }}
              />
            )}
            {visibleProblem !== null && <FieldError>{t("page.incomplete_error")}</FieldError>}
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
