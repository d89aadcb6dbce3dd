import type { SearchHint } from "@relicario/engine";
import type { ShownImage } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, ErrorNotice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { shownPicture } from "@relicario/vault/shown-image";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { PictureField } from "../picture/PictureField.tsx";
import { FrameHelp } from "./FrameHelp.tsx";
import { NotThisPicture } from "./NotThisPicture.tsx";
import type { Purpose } from "./purpose.ts";

/** What was shown to be tried, and what came of it. */
export interface Shown {
  readonly image: ShownImage | null;
  /** The same picture, searched at one place; null before somebody asked for it. */
  readonly hinted: ShownImage | null;
  readonly failure: PortalError | null;
  /** Where `hinted` is searched. */
  readonly hint: SearchHint | null;
}

interface PictureStepProps {
  readonly purpose: Purpose;
  readonly shown: Shown;
  /** The vault is being loaded. */
  readonly loading: boolean;
  readonly onImage: (image: ShownImage | null) => void;
  /** With a hint only that place is searched. */
  readonly onTry: (hint: SearchHint | null) => void;
}

/**
 * Route `/provide-image-recovery`: a copy of the picture, and its passphrase. What came of the one
 * before stands above it.
 */
export function PictureStep({ purpose, shown: { image, failure, hint }, loading, onImage, onTry }: PictureStepProps) {
  const { t } = useTranslation("image-recovery");
  const [missing, setMissing] = useState(false);
  const { kind } = purpose;
  const wrong = failure?.code === "not_this_picture" || failure?.code === "not_this_picture_or_passphrase";
  const picture = image === null ? null : shownPicture(image);

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setMissing(image === null);
    if (image !== null) onTry(null);
  };
  return (
    <Page
      title={t(`provide.${kind}_title`)}
      lead={failure === null ? t(`provide.${kind}_body`) : undefined}
      actions={
        <ButtonLink tone="quiet" size="small" to={kind === "recover" ? "/secrets" : "/home"}>
          {t("provide.back_action")}
        </ButtonLink>
      }
    >
      {kind !== "unlock" && <FlowSteps flow="recovery" step="picture" />}
      {failure !== null &&
        (wrong ? (
          <NotThisPicture maybePassphrase={failure.code === "not_this_picture_or_passphrase"} />
        ) : (
          <ErrorNotice error={failure} />
        ))}
      <form onSubmit={handleSubmit} noValidate>
        <Card>
          <Stack $gap={5}>
            <PictureField
              purpose="show"
              value={image}
              onChange={(next) => {
                onImage(next);
                setMissing(false);
              }}
            />
            {missing && <FieldError>{t("provide.missing_error")}</FieldError>}
            <SpacedRow>
              <Button type="submit" size="large" pending={loading} data-tour="recovery-try">
                {t(`provide.${kind}_action`)}
              </Button>
              <ButtonLink
                tone="plain"
                to={
                  kind === "recover"
                    ? `/welcome-recovery?${new URLSearchParams({ secret: purpose.secretId }).toString()}`
                    : "/welcome-recovery"
                }
                data-tour="recovery-help"
              >
                {t("provide.help_action")}
              </ButtonLink>
            </SpacedRow>
            {kind === "unlock" && (
              <SpacedRow>
                <ButtonLink tone="plain" to={`/new-device?${new URLSearchParams({ then: purpose.then }).toString()}`}>
                  {t("provide.device_action")}
                </ButtonLink>
              </SpacedRow>
            )}
            {wrong && picture !== null && (
              <FrameHelp picture={picture.picture} before={hint} disabled={false} onTry={onTry} />
            )}
          </Stack>
        </Card>
      </form>
    </Page>
  );
}
