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
  useErrorMessage,
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

import { CameraView } from "../camera/CameraView.tsx";
import { hasCamera, useCamera } from "../camera/useCamera.ts";
import { ChooseFromDrive } from "../drives/ChooseFromDrive.tsx";
import { maxPictureBytes } from "../drives/drive.ts";
import { examinerOf, type ExaminePicture } from "./examiner.ts";
import { SaveCapturedPicture } from "./SaveCapturedPicture.tsx";
import type { PictureState } from "./picture-draft.ts";
import { PictureAdvice } from "./PictureAdvice.tsx";
import { PictureVerdictNotice } from "./PictureVerdictNotice.tsx";
import { clearCapturedPicture, isCapturedPicture, setCapturedPicture, useCapturedPicture } from "./captured-picture.ts";
import { usePreview } from "./usePreview.ts";

interface PicturePickerProps {
  readonly purpose: PictureFieldProps["purpose"];
  readonly state: PictureState;
  readonly disabled: boolean;
  readonly onChange: (state: PictureState) => void;
  /** Called once a picture that was taken here was handed to the browser to save. */
  readonly onSaved: () => void;
}

type PickerTab = "upload" | "take";

/** Takes a picture for protecting, which is judged. */
export function ExaminingPicturePicker(props: Omit<PicturePickerProps, "purpose">) {
  return <PicturePicker {...props} purpose="choose" access={useVault()} />;
}

/**
 * Takes one picture by choosing, dropping or pasting, or with the camera, shows it, and says what
 * it is good for. Only judging takes the vault: a page without an account has none.
 */
export function PicturePicker({
  purpose,
  state,
  disabled,
  onChange,
  onSaved,
  access = null,
}: PicturePickerProps & { readonly access?: VaultAccess | null }) {
  const { t } = useTranslation("provide-image");
  const errorSentence = useErrorMessage();
  const titleId = useId();
  const examination = useExamination(onChange);
  const [localError, setLocalError] = useState<"empty" | "too_large" | "several" | null>(null);
  const portal = usePortal();
  const capturedPicture = useCapturedPicture();
  const { camera, start, stop, switchCamera } = useCamera();
  const picture = "picture" in state ? state.picture : null;
  const [tab, setTab] = useState<PickerTab>(isCapturedPicture(picture) ? "take" : "upload");

  const acceptFiles = (files: readonly File[]) => {
    const file = files[0];
    if (file === undefined) return;
    stop();
    setTab("upload");
    if (purpose === "choose") clearCapturedPicture();
    const problem =
      files.length > 1 ? "several" : file.size === 0 ? "empty" : file.size > maxPictureBytes ? "too_large" : null;
    setLocalError(problem);
    examination.stop();
    if (problem !== null) onChange({ status: "none" });
    else if (purpose === "show") onChange({ status: "shown", picture: file });
    else if (purpose === "share") onChange({ status: "of_share", picture: file });
    else if (access?.status === "ready") examination.start(examinerOf(access.vault), file);
  };
  // A picture that was taken for another form is not this one's.
  const clearForeignCapture = useEffectEvent(() => {
    if (purpose === "choose" && !isCapturedPicture(picture)) clearCapturedPicture();
  });
  useEffect(() => {
    clearForeignCapture();
  }, []);
  // Judging ends with the screen that asked for it: it begins anew where the picture is shown
  // again.
  const examiningVault = access?.status === "ready" && state.status === "examining" ? access.vault : null;
  const resumeExamination = useEffectEvent((vault: Vault) => {
    if (state.status === "examining" && !examination.isRunning()) examination.start(examinerOf(vault), state.picture);
  });
  useEffect(() => {
    if (examiningVault !== null) resumeExamination(examiningVault);
  }, [examiningVault]);
  const ready = !disabled && (purpose !== "choose" || access?.status === "ready");
  // The kind of a file is judged by its content, so nothing is refused by its name here.
  const { getRootProps, getInputProps, open, isDragActive } = useDropzone({
    onDrop: acceptFiles,
    disabled: !ready,
    noClick: true,
    noKeyboard: true,
    noPaste: true,
  });
  const field = useRef<HTMLDivElement>(null);
  usePastedFiles(field, ready, acceptFiles);
  const preview = usePreview(picture);
  const handleTabChange = (next: PickerTab) => {
    setTab(next);
    if (next === "upload") stop();
    else if (!isCapturedPicture(picture)) void start();
  };
  const capturing = tab === "take";

  const dropArea = (
    <DropArea {...getRootProps()} data-drag={isDragActive} data-chosen={picture !== null}>
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
      {picture === null && <DropIcon aria-hidden>{capturing ? <Camera /> : <ImagePlus />}</DropIcon>}
      <DropText>
        {picture instanceof File ? (
          <FileName>{picture.name}</FileName>
        ) : (
          <span>{t(capturing ? "camera.start_body" : "field.drop_body")}</span>
        )}
        <SmallText>{t("field.private_hint")}</SmallText>
        {picture === null && !capturing && <SmallText>{t("field.cloud_hint")}</SmallText>}
        <SpacedRow>
          {capturing ? (
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
    </DropArea>
  );
  const captureArea =
    camera.status === "on" ? (
      <CameraView
        stream={camera.stream}
        onClose={stop}
        onSwitchCamera={camera.hasOtherCameras ? () => void switchCamera() : null}
        onCapture={(file) => {
          acceptFiles([file]);
          setTab("take");
          setCapturedPicture(file, portal);
        }}
      />
    ) : (
      dropArea
    );
  return (
    <Container ref={field} role="group" aria-labelledby={titleId} data-tour="picture-field">
      <Title id={titleId}>{t(`field.${purpose}_title`)}</Title>
      {purpose === "choose" && hasCamera() ? (
        <Tabs.Root
          value={tab}
          onValueChange={(next) => {
            handleTabChange(next === "take" ? "take" : "upload");
          }}
          activationMode="manual"
        >
          <TabList aria-label={t("way.list_aria")}>
            <TabTrigger value="upload" disabled={!ready}>
              {t("way.upload_label")}
            </TabTrigger>
            <TabTrigger value="take" disabled={!ready} data-tour="picture-take">
              {t("way.take_label")}
            </TabTrigger>
          </TabList>
          <Tabs.Content value="upload" tabIndex={-1}>
            {dropArea}
          </Tabs.Content>
          <Tabs.Content value="take" tabIndex={-1}>
            {captureArea}
          </Tabs.Content>
        </Tabs.Root>
      ) : (
        dropArea
      )}
      {!capturing && (
        <ChooseFromDrive
          disabled={!ready}
          onChosen={(file) => {
            acceptFiles([file]);
          }}
        />
      )}
      {capturedPicture !== null && picture === capturedPicture.picture && isUsable(state) && (
        <SaveCapturedPicture capturedPicture={capturedPicture} onSaved={onSaved} />
      )}
      {camera.status === "failed" && <FieldError>{t(`camera.${camera.reason}_error`)}</FieldError>}
      {access?.status === "failed" && <ErrorNotice error={access.error} onRetry={access.retry} />}
      {localError !== null && <FieldError>{t(`field.${localError}_error`)}</FieldError>}
      {state.status === "failed" && <FieldError>{errorSentence(state.error)}</FieldError>}
      {state.status === "examining" && (
        <Progress
          label={t("field.examining_status")}
          done={examination.progress?.done ?? 0}
          total={examination.progress?.total ?? 0}
        />
      )}
      {state.status === "examined" && <PictureVerdictNotice verdict={state.verdict} />}
      {purpose === "choose" && (
        <PictureAdvice
          open={
            state.status === "none" ||
            (state.status === "examined" && state.verdict.level === "red" && state.verdict.known === null)
          }
        />
      )}
    </Container>
  );
}

/**
 * Takes files that are pasted anywhere on the page: nobody has to find out first where the focus
 * must be. Of two fields the one with the focus takes them, else the first.
 */
function usePastedFiles(
  field: RefObject<HTMLElement | null>,
  enabled: boolean,
  onFiles: (files: readonly File[]) => void,
): void {
  const handlePaste = useEffectEvent((event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    const focusedField = event.target instanceof Element ? event.target.closest("[data-tour=picture-field]") : null;
    if (event.defaultPrevented || files.length === 0 || (focusedField !== null && focusedField !== field.current))
      return;
    event.preventDefault();
    onFiles(files);
  });
  useEffect(() => {
    if (!enabled) return undefined;
    const handleEvent = (event: ClipboardEvent): void => {
      handlePaste(event);
    };
    document.addEventListener("paste", handleEvent);
    return () => {
      document.removeEventListener("paste", handleEvent);
    };
  }, [enabled]);
}

/** A picture that cannot be used is not worth keeping. */
function isUsable(state: PictureState): boolean {
  return state.status === "examined" && state.verdict.level !== "red" && state.verdict.known?.kind !== "resembles";
}

/** One examination at a time: a newer picture, or leaving the page, ends the one before. */
function useExamination(onChange: (state: PictureState) => void) {
  const activeController = useRef<AbortController | null>(null);
  const latestOnChange = useRef(onChange);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  useEffect(() => {
    latestOnChange.current = onChange;
  });
  useEffect(
    () => () => {
      activeController.current?.abort();
      activeController.current = null; // what it still answers is not told
    },
    [],
  );

  const stop = () => {
    activeController.current?.abort();
    activeController.current = null;
  };
  const start = (examine: ExaminePicture, picture: Blob) => {
    const controller = new AbortController();
    activeController.current = controller;
    setProgress(null);
    onChange({ status: "examining", picture });
    examine(picture, { signal: controller.signal, onProgress: setProgress }).then(
      (verdict) => {
        if (activeController.current === controller) latestOnChange.current({ status: "examined", picture, verdict });
      },
      (error: unknown) => {
        if (activeController.current === controller) latestOnChange.current({ status: "failed", error });
      },
    );
  };
  const isRunning = () => activeController.current !== null;
  return { start, stop, isRunning, progress };
}

const Container = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  min-width: 0;
`;

const Title = styled.span`
  font-weight: 600;
`;

const TabList = styled(Tabs.List)`
  display: flex;
  gap: ${space(1)};
  margin-bottom: ${space(3)};
  border-bottom: 1px solid ${s("border")};
`;

const TabTrigger = styled(Tabs.Trigger)`
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

const DropArea = styled.div`
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
