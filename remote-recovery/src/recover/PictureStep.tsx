import type { SearchHint } from "@relicario/engine";
import type { OpenerHandle } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { FieldError } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, ErrorNotice, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { getPresentedPicture } from "@relicario/vault/presented-opener";
import { useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";

import { FlowSteps } from "../flow/FlowSteps.tsx";
import { PictureField } from "../picture/PictureField.tsx";
import { FrameSearch } from "./FrameSearch.tsx";
import { WrongPictureNotice } from "./WrongPictureNotice.tsx";
import type { Purpose } from "./purpose.ts";

/** What was shown to be tried, and what came of it. */
export interface RecoveryAttempt {
  readonly openerHandle: OpenerHandle | null;
  /** The same picture, searched at one place; null before somebody asked for it. */
  readonly hintedHandle: OpenerHandle | null;
  readonly failure: PortalError | null;
  /** Where `hintedHandle` is searched. */
  readonly hint: SearchHint | null;
}

interface PictureStepProps {
  readonly purpose: Purpose;
  readonly attempt: RecoveryAttempt;
  /** The vault is being loaded. */
  readonly loading: boolean;
  readonly onHandleChange: (openerHandle: OpenerHandle | null) => void;
  /** With a hint only that place is searched. */
  readonly onAttempt: (hint: SearchHint | null) => void;
}

/**
 * Route `/provide-image-recovery`: a copy of the picture, and its passphrase. What came of the one
 * before stands above it.
 */
export function PictureStep({
  purpose,
  attempt: { openerHandle, failure, hint },
  loading,
  onHandleChange,
  onAttempt,
}: PictureStepProps) {
  const { t } = useTranslation("image-recovery");
  const [openerMissing, setOpenerMissing] = useState(false);
  const { kind } = purpose;
  const mismatched = failure?.code === "not_this_picture" || failure?.code === "not_this_picture_or_passphrase";
  const picture = openerHandle === null ? null : getPresentedPicture(openerHandle);

  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setOpenerMissing(openerHandle === null);
    if (openerHandle !== null) onAttempt(null);
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
        (mismatched ? (
          <WrongPictureNotice maybeWrongPassphrase={failure.code === "not_this_picture_or_passphrase"} />
        ) : (
          <ErrorNotice error={failure} />
        ))}
      <form onSubmit={handleSubmit} noValidate>
        <Card>
          <Stack $gap={5}>
            <PictureField
              purpose="show"
              value={openerHandle}
              onChange={(nextHandle) => {
                onHandleChange(nextHandle);
                setOpenerMissing(false);
              }}
            />
            {openerMissing && <FieldError>{t("provide.missing_error")}</FieldError>}
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
            {mismatched && picture !== null && (
              <FrameSearch picture={picture.picture} previousHint={hint} disabled={false} onSearch={onAttempt} />
            )}
          </Stack>
        </Card>
      </form>
    </Page>
  );
}
