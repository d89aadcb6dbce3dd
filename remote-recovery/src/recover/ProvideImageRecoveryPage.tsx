import { usePortal, type ShownImage, type VaultProgress } from "@relicario/shared/contract";
import { FieldError, Stepper } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, ErrorNotice, Page, Progress, Skeleton, SpacedRow, Stack, useVault, useVaultState } from "@relicario/shared/ui";
import { forgetShown, showPicture, shownPicture } from "@relicario/vault/shown-image";
import { useEffect, useState, type SyntheticEvent } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "react-router-dom";

import { PictureField } from "../picture/PictureField.tsx";
import { DeviceQuestion } from "./DeviceQuestion.tsx";
import { FrameHelp } from "./FrameHelp.tsx";
import { NotThisPicture } from "./NotThisPicture.tsx";
import { safePath, versionOf } from "./paths.ts";
import { useOpening } from "./useOpening.ts";

/** Shows a picture to open one secret (`?secret=`, an older one with `&version=`) or the whole account (`?then=` says where to go afterwards). */
export default function ProvideImageRecoveryPage() {
  const { t } = useTranslation("image-recovery");
  const portal = usePortal();
  const [query] = useSearchParams();
  const secretId = query.get("secret");
  const target = secretId === null ? safePath(query.get("then")) : "/congrats-recover";
  const access = useVault();
  const state = useVaultState(access);
  const { opening, open, cancel } = useOpening(secretId, versionOf(query.get("version")));
  const [shown, setShown] = useState<ShownImage | null>(null);
  useEffect(
    () => () => {
      if (shown !== null) forgetShown(shown);
    },
    [shown],
  );
  const [missing, setMissing] = useState(false);
  const [framing, setFraming] = useState(false);

  const { navigate } = portal;
  const asks = opening.status === "done" && state.status === "unlocked" && state.device === null;
  const finished = opening.status === "done" && !asks;
  useEffect(() => {
    if (finished) navigate(target, { replace: true });
  }, [finished, navigate, target]);

  const start = (image: ShownImage) => {
    if (access.status === "ready" && opening.status !== "running") void open(access.vault, image);
  };
  const handleSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    setMissing(shown === null);
    setFraming(false);
    if (shown !== null) start(shown);
  };
  const title = t(secretId === null ? "provide.unlock_title" : "provide.recover_title");
  const steps = (current: number) =>
    secretId === null ? null : (
      <Stepper label={t("steps.list_aria")} steps={[t("steps.picture_title"), t("steps.opening_title"), t("steps.secret_title")]} current={current} />
    );

  if (opening.status === "done") {
    return (
      <Page title={title}>
        {steps(2)}
        {asks && access.status === "ready" ? <DeviceQuestion vault={access.vault} /> : <Skeleton height="240px" />}
      </Page>
    );
  }
  const running = opening.status === "running";
  // The frame that was drawn stays while it is searched, and after it was searched in vain.
  const framed = framing && running;
  const picture = shown === null ? null : shownPicture(shown);
  const failure = opening.status === "failed" ? opening.error : null;
  const wrongPicture = failure?.code === "not_this_picture" || failure?.code === "not_this_picture_or_passphrase";
  return (
    <Page
      title={title}
      lead={t(secretId === null ? "provide.unlock_body" : "provide.recover_body")}
      actions={
        <ButtonLink tone="quiet" size="small" to={secretId === null ? "/home" : "/secrets"}>
          {t("provide.back_action")}
        </ButtonLink>
      }
    >
      {steps(running ? 1 : 0)}
      <form onSubmit={handleSubmit} noValidate>
        <Card>
          <Stack $gap={5}>
            <PictureField
              purpose="show"
              value={shown}
              disabled={running}
              onChange={(value) => {
                setShown(value);
                setMissing(false);
              }}
            />
            {missing && <FieldError>{t("provide.missing_error")}</FieldError>}
            {failure !== null && wrongPicture && <NotThisPicture maybePassphrase={failure.code === "not_this_picture_or_passphrase"} />}
            {(wrongPicture || framed) && picture !== null && (
              <FrameHelp
                picture={picture.picture}
                disabled={running}
                onTry={(hint) => {
                  setFraming(true);
                  start(showPicture({ ...picture, hint }));
                }}
              />
            )}
            {failure !== null && !wrongPicture && <ErrorNotice error={failure} />}
            {running && <OpeningProgress progress={opening.progress} />}
            <SpacedRow>
              <Button type="submit" size="large" pending={running || access.status === "loading"}>
                {t(secretId === null ? "provide.unlock_action" : "provide.recover_action")}
              </Button>
              {running ? (
                <Button tone="quiet" size="large" onClick={cancel}>
                  {t("provide.cancel_action")}
                </Button>
              ) : (
                <ButtonLink tone="plain" to="/welcome-recovery">
                  {t("provide.help_action")}
                </ButtonLink>
              )}
            </SpacedRow>
          </Stack>
        </Card>
      </form>
    </Page>
  );
}

interface OpeningProgressProps {
  readonly progress: VaultProgress | null;
}

/** What is being tried, phase by phase. */
function OpeningProgress({ progress }: OpeningProgressProps) {
  const { t } = useTranslation("processing");
  const words = progress?.step === undefined ? (`phase.${progress?.phase ?? "picture"}_status` as const) : (`step.${progress.step}_status` as const);
  return <Progress label={t(words)} done={progress?.done ?? 0} total={progress?.total ?? 0} />;
}
