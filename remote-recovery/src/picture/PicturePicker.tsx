import { FieldError } from "@relicario/shared/forms";
import {
  Button,
  ErrorNotice,
  media,
  Progress,
  s,
  SmallText,
  space,
  SpacedRow,
  useErrorSentence,
  useVault,
  visuallyHidden,
  type VaultAccess,
} from "@relicario/shared/ui";
import { usePortal, type PictureFieldProps, type Vault, type VaultProgress } from "@relicario/shared/contract";
import * as Tabs from "@radix-ui/react-tabs";
import { Camera, ImagePlus } from "lucide-react";
import { useEffect, useEffectEvent, useId, useRef, useState, type RefObject } from "react";
import { useDropzone } from "react-dropzone";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ChooseFromDrive } from "../drives/ChooseFromDrive.tsx";
import { CameraView } from "./CameraView.tsx";
import { examinerOf, type Examine } from "./examiner.ts";
import { KeepTaken } from "./KeepTaken.tsx";
import { maxPictureBytes, type PictureStanding } from "./picture-draft.ts";
import { PictureAdvice } from "./PictureAdvice.tsx";
import { PictureVerdictNotice } from "./PictureVerdictNotice.tsx";
import { forgetTaken, isTaken, keepTaken, useTaken } from "./taken-picture.ts";
import { hasCamera, useCamera } from "./useCamera.ts";
import { usePreview } from "./usePreview.ts";

interface PicturePickerProps {
  readonly purpose: PictureFieldProps["purpose"];
  readonly standing: PictureStanding;
  readonly disabled: boolean;
  readonly onChange: (standing: PictureStanding) => void;
  /** Called once a picture that was taken here was handed to the browser to save. */
  readonly onSaved: () => void;
}

type Way = "upload" | "take";

/** Takes a picture for protecting, which is judged. */
export function JudgingPicker(props: Omit<PicturePickerProps, "purpose">) {
  return <PicturePicker {...props} purpose="choose" access={useVault()} />;
}

/**
 * Takes one picture by choosing, dropping or pasting, or with the camera, shows it, and says what
 * it is good for. Only judging takes the vault: a page without an account has none.
 */
export function PicturePicker({
  purpose,
  standing,
  disabled,
  onChange,
  onSaved,
  access = null,
}: PicturePickerProps & { readonly access?: VaultAccess | null }) {
  const { t } = useTranslation("provide-image");
  const sentence = useErrorSentence();
  const titleId = useId();
  const examination = useExamination(onChange);
  const [localError, setLocalError] = useState<"empty" | "too_large" | "several" | null>(null);
  const portal = usePortal();
  const taken = useTaken();
  const { camera, start, stop, turn } = useCamera();
  const picture = "picture" in standing ? standing.picture : null;
  const [way, setWay] = useState<Way>(isTaken(picture) ? "take" : "upload");

  const take = (files: readonly File[]) => {
    const file = files[0];
    if (file === undefined) return;
    stop();
    setWay("upload");
    if (purpose === "choose") forgetTaken();
    const wrong =
      files.length > 1 ? "several" : file.size === 0 ? "empty" : file.size > maxPictureBytes ? "too_large" : null;
    setLocalError(wrong);
    examination.stop();
    if (wrong !== null) onChange({ status: "none" });
    else if (purpose === "show") onChange({ status: "shown", picture: file });
    else if (purpose === "share") onChange({ status: "of_share", picture: file });
    else if (access?.status === "ready") examination.start(examinerOf(access.vault), file);
  };
  // A picture that was taken for another form is not this one's.
  const forgetForeign = useEffectEvent(() => {
    if (purpose === "choose" && !isTaken(picture)) forgetTaken();
  });
  useEffect(() => {
    forgetForeign();
  }, []);
  // Judging ends with the screen that asked for it: it begins anew where the picture is shown
  // again.
  const examine = access?.status === "ready" && standing.status === "examining" ? access.vault : null;
  const judgeAgain = useEffectEvent((vault: Vault) => {
    if (standing.status === "examining" && !examination.isRunning())
      examination.start(examinerOf(vault), standing.picture);
  });
  useEffect(() => {
    if (examine !== null) judgeAgain(examine);
  }, [examine]);
  const ready = !disabled && (purpose !== "choose" || access?.status === "ready");
  // The kind of a file is judged by its content, so nothing is refused by its name here.
  const { getRootProps, getInputProps, open, isDragActive } = useDropzone({
    onDrop: take,
    disabled: !ready,
    noClick: true,
    noKeyboard: true,
    noPaste: true,
  });
  const field = useRef<HTMLDivElement>(null);
  usePastedFiles(field, ready, take);
  const preview = usePreview(picture);
  const handleWay = (next: Way) => {
    setWay(next);
    if (next === "upload") stop();
    else if (!isTaken(picture)) void start();
  };
  const taking = way === "take";

  const drop = (
    <Drop {...getRootProps()} data-drag={isDragActive} data-chosen={picture !== null}>
      <FileInput {...getInputProps({ accept: "image/*", "aria-label": t("field.file_aria"), style: {} })} />
      {preview !== null && (
        <Preview
          key={preview}
          src={preview}
          alt={t("field.preview_aria")}
          onError={(event) => {
            event.currentTarget.hidden = true;
          }}
        />
      )}
      {picture === null && <DropIcon aria-hidden>{taking ? <Camera /> : <ImagePlus />}</DropIcon>}
      <DropText>
        {picture instanceof File ? (
          <FileName>{picture.name}</FileName>
        ) : (
          <span>{t(taking ? "camera.start_body" : "field.drop_body")}</span>
        )}
        <SmallText>{t("field.private_hint")}</SmallText>
        {picture === null && !taking && <SmallText>{t("field.cloud_hint")}</SmallText>}
        <SpacedRow>
          {taking ? (
            <Button
              tone={picture === null ? "primary" : "quiet"}
              icon={<Camera aria-hidden />}
              disabled={!ready}
              pending={camera.status === "starting"}
              onClick={() => void start()}
            >
              {t(picture === null ? "camera.open_action" : "camera.again_action")}
            </Button>
          ) : (
            <Button tone={picture === null ? "primary" : "quiet"} disabled={!ready} onClick={open}>
              {t(picture === null ? "field.choose_action" : "field.another_action")}
            </Button>
          )}
        </SpacedRow>
      </DropText>
    </Drop>
  );
  const capture =
    camera.status === "on" ? (
      <CameraView
        stream={camera.stream}
        onClose={stop}
        onTurn={camera.others ? () => void turn() : null}
        onTaken={(file) => {
          take([file]);
          setWay("take");
          keepTaken(file, portal);
        }}
      />
    ) : (
      drop
    );
  return (
    <Box ref={field} role="group" aria-labelledby={titleId} data-tour="picture-field">
      <Title id={titleId}>{t(`field.${purpose}_title`)}</Title>
      {purpose === "choose" && hasCamera() ? (
        <Tabs.Root
          value={way}
          onValueChange={(next) => {
            handleWay(next === "take" ? "take" : "upload");
          }}
          activationMode="manual"
        >
          <Ways aria-label={t("way.list_aria")}>
            <WayTab value="upload" disabled={!ready}>
              {t("way.upload_label")}
            </WayTab>
            <WayTab value="take" disabled={!ready} data-tour="picture-take">
              {t("way.take_label")}
            </WayTab>
          </Ways>
          <Tabs.Content value="upload" tabIndex={-1}>
            {drop}
          </Tabs.Content>
          <Tabs.Content value="take" tabIndex={-1}>
            {capture}
          </Tabs.Content>
        </Tabs.Root>
      ) : (
        drop
      )}
      {!taking && (
        <ChooseFromDrive
          disabled={!ready}
          onChosen={(file) => {
            take([file]);
          }}
        />
      )}
      {taken !== null && picture === taken.picture && isWorthKeeping(standing) && (
        <KeepTaken taken={taken} onSaved={onSaved} />
      )}
      {camera.status === "failed" && <FieldError>{t(`camera.${camera.reason}_error`)}</FieldError>}
      {access?.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {localError !== null && <FieldError>{t(`field.${localError}_error`)}</FieldError>}
      {standing.status === "failed" && <FieldError>{sentence(standing.error)}</FieldError>}
      {standing.status === "examining" && (
        <Progress
          label={t("field.examining_status")}
          done={examination.progress?.done ?? 0}
          total={examination.progress?.total ?? 0}
        />
      )}
      {standing.status === "examined" && <PictureVerdictNotice verdict={standing.verdict} />}
      {purpose === "choose" && (
        <PictureAdvice
          open={
            standing.status === "none" ||
            (standing.status === "examined" && standing.verdict.level === "red" && standing.verdict.known === null)
          }
        />
      )}
    </Box>
  );
}

/**
 * Takes files that are pasted anywhere on the page: nobody has to find out first where the focus
 * must be. Of two fields the one with the focus takes them, else the first.
 */
function usePastedFiles(
  field: RefObject<HTMLElement | null>,
  enabled: boolean,
  take: (files: readonly File[]) => void,
): void {
  const handlePaste = useEffectEvent((event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    const focused = event.target instanceof Element ? event.target.closest("[data-tour=picture-field]") : null;
    if (event.defaultPrevented || files.length === 0 || (focused !== null && focused !== field.current)) return;
    event.preventDefault();
    take(files);
  });
  useEffect(() => {
    if (!enabled) return undefined;
    const listen = (event: ClipboardEvent): void => {
      handlePaste(event);
    };
    document.addEventListener("paste", listen);
    return () => {
      document.removeEventListener("paste", listen);
    };
  }, [enabled]);
}

/** A picture that cannot be used is not worth keeping. */
function isWorthKeeping(standing: PictureStanding): boolean {
  return (
    standing.status === "examined" && standing.verdict.level !== "red" && standing.verdict.known?.kind !== "resembles"
  );
}

/** One examination at a time: a newer picture, or leaving the page, ends the one before. */
function useExamination(onChange: (standing: PictureStanding) => void) {
  const running = useRef<AbortController | null>(null);
  const report = useRef(onChange);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  useEffect(() => {
    report.current = onChange;
  });
  useEffect(
    () => () => {
      running.current?.abort();
      running.current = null; // what it still answers is not told
    },
    [],
  );

  const stop = () => {
    running.current?.abort();
    running.current = null;
  };
  const start = (examine: Examine, picture: Blob) => {
    const own = new AbortController();
    running.current = own;
    setProgress(null);
    onChange({ status: "examining", picture });
    examine(picture, { signal: own.signal, onProgress: setProgress }).then(
      (verdict) => {
        if (running.current === own) report.current({ status: "examined", picture, verdict });
      },
      (error: unknown) => {
        if (running.current === own) report.current({ status: "failed", error });
      },
    );
  };
  const isRunning = () => running.current !== null;
  return { start, stop, isRunning, progress };
}

const Box = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  min-width: 0;
`;

const Title = styled.span`
  font-weight: 600;
`;

const Ways = styled(Tabs.List)`
  display: flex;
  gap: ${space(1)};
  margin-bottom: ${space(3)};
  border-bottom: 1px solid ${s("border")};
`;

const WayTab = styled(Tabs.Trigger)`
  min-height: 44px;
  padding: ${space(2)} ${space(4)};
  border: 0;
  border-bottom: 2px solid transparent;
  background: none;
  color: ${s("textMuted")};
  font: inherit;
  cursor: pointer;
  &[data-state="active"] {
    border-bottom-color: ${s("accent")};
    color: ${s("text")};
    font-weight: 600;
  }
  &:disabled {
    cursor: default;
    opacity: 0.6;
  }
`;

const Drop = styled.div`
  position: relative;
  display: flex;
  align-items: center;
  gap: ${space(5)};
  padding: ${space(5)};
  border: 1.5px dashed ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
  min-height: 148px;
  &:focus-visible {
    outline: 2px solid ${s("focus")};
  }
  &[data-drag="true"] {
    border-color: ${s("accent")};
    background: ${s("accentSoft")};
  }
  &[data-chosen="true"] {
    border-style: solid;
    border-color: ${s("border")};
  }
  ${media.mobile} {
    flex-direction: column;
    align-items: stretch;
    text-align: center;
    gap: ${space(3)};
  }
`;

/** Out of the row, and still there for assistive technology. */
const FileInput = styled.input`
  ${visuallyHidden}
`;

const DropIcon = styled.span`
  display: grid;
  place-items: center;
  flex: none;
  width: 64px;
  height: 64px;
  border-radius: 50%;
  background: ${s("accentSoft")};
  color: ${s("accentText")};
  & > svg {
    width: 28px;
    height: 28px;
  }
  ${media.mobile} {
    align-self: center;
  }
`;

const DropText = styled.div`
  display: flex;
  flex-direction: column;
  align-items: flex-start;
  gap: ${space(2)};
  min-width: 0;
  ${media.mobile} {
    align-items: center;
    & > div {
      justify-content: center;
    }
  }
`;

const FileName = styled.strong`
  max-width: 100%;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
`;

const Preview = styled.img`
  flex: none;
  width: 148px;
  height: 112px;
  object-fit: cover;
  border-radius: ${s("radiusSmall")};
  background: ${s("border")};
  ${media.mobile} {
    width: 100%;
    height: 180px;
  }
`;
