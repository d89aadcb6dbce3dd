import { FieldError, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  media,
  PictureFacts,
  PointerHint,
  Progress,
  s,
  SmallText,
  space,
  SpacedRow,
  useErrorMessage,
  visuallyHidden,
} from "@relicario/shared/ui";
import { usePortal, type PictureFieldProps } from "@relicario/shared/contract";
import type { ExaminePicture } from "@relicario/vault/element";
import * as Tabs from "@radix-ui/react-tabs";
import { Camera, ImagePlus } from "lucide-react";
import { useEffect, useEffectEvent, useId, useRef, useState, type RefObject } from "react";
import { useDropzone } from "react-dropzone";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";
import { z } from "zod";

import { hasCamera, hasCaptureInput } from "../camera/camera-support.ts";
import { useCameraWindow } from "../camera/useCameraWindow.ts";
import { ChooseFromDrive } from "../drives/ChooseFromDrive.tsx";
import { maxPictureBytes } from "../drives/drive.ts";
import { SaveCapturedPicture } from "./SaveCapturedPicture.tsx";
import type { PictureState } from "./picture-draft.ts";
import { PictureAdvice } from "./PictureAdvice.tsx";
import { PictureVerdictNotice } from "./PictureVerdictNotice.tsx";
import { clearCapturedPicture, isCapturedPicture, setCapturedPicture, useCapturedPicture } from "./captured-picture.ts";
import { usePreviewUrl } from "./usePreviewUrl.ts";

interface PicturePickerProps {
  readonly purpose: PictureFieldProps["purpose"];
  readonly state: PictureState;
  readonly disabled: boolean;
  /** Judges a picture for protecting; null for a visitor. */
  readonly examine: ExaminePicture | null;
  readonly onChange: (state: PictureState) => void;
  /** Called after a captured picture was handed to the browser to save. */
  readonly onSaved: () => void;
}

type PickerTab = "upload" | "take";

/**
 * Takes a picture that is chosen, dropped, pasted or captured. Previews the picture and shows its
 * verdict.
 */
export function PicturePicker({ purpose, state, disabled, examine, onChange, onSaved }: PicturePickerProps) {
  const { t } = useTranslation("provide-image");
  const describeError = useErrorMessage();
  const titleId = useId();
  const examination = useVaultOperation();
  const [fileProblem, setFileProblem] = useState<"empty" | "too_large" | "several" | null>(null);
  const portal = usePortal();
  const capturedPicture = useCapturedPicture();
  const cameraWindow = useCameraWindow("picture", z.instanceof(File), acceptCapture);
  const picture = "picture" in state ? state.picture : null;
  const [tab, setTab] = useState<PickerTab>(isCapturedPicture(picture) ? "take" : "upload");

  const startExamination = (examinedPicture: Blob) => {
    if (examine === null) return;
    onChange({ status: "examining", picture: examinedPicture });
    examination.start({
      run: (options) => examine(examinedPicture, options),
      onDone: (verdict) => {
        onChange({ status: "examined", picture: examinedPicture, verdict });
      },
      onFailed: (error) => {
        onChange({ status: "failed", error });
      },
    });
  };
  function acceptFiles(files: readonly File[]): void {
    const file = files[0];
    if (file === undefined) return;
    cameraWindow.close();
    setTab("upload");
    if (purpose === "choose") clearCapturedPicture();
    const problem =
      files.length > 1 ? "several" : file.size === 0 ? "empty" : file.size > maxPictureBytes ? "too_large" : null;
    setFileProblem(problem);
    examination.cancel();
    if (problem !== null) onChange({ status: "none" });
    else if (purpose === "show") onChange({ status: "for_opening", picture: file });
    else if (purpose === "share") onChange({ status: "for_share", picture: file });
    else startExamination(file);
  }
  function acceptCapture(file: File): void {
    acceptFiles([file]);
    setTab("take");
    setCapturedPicture(file, portal);
  }
  const captureInput = useRef<HTMLInputElement>(null);
  // Drop a picture that was captured for another form.
  const clearForeignCapture = useEffectEvent(() => {
    if (purpose === "choose" && !isCapturedPicture(picture)) clearCapturedPicture();
  });
  useEffect(() => {
    clearForeignCapture();
  }, []);
  // Unmounting cancels the examination, so a remount starts it again.
  const resumeExamination = useEffectEvent(() => {
    if (state.status === "examining" && !examination.running) startExamination(state.picture);
  });
  useEffect(() => {
    resumeExamination();
  }, []);
  const ready = !disabled;
  // Files are accepted regardless of name and type: the decoder decides by content.
  const { getRootProps, getInputProps, open, isDragActive } = useDropzone({
    onDrop: acceptFiles,
    disabled: !ready,
    noClick: true,
    noKeyboard: true,
    noPaste: true,
  });
  const containerRef = useRef<HTMLDivElement>(null);
  usePastedFiles(containerRef, ready, acceptFiles);
  const previewUrl = usePreviewUrl(picture);
  const handleTabChange = (next: PickerTab) => {
    setTab(next);
    cameraWindow.close();
  };
  const capturing = tab === "take";

  const captureButton =
    cameraWindow.state.status === "open" ? (
      <>
        <SmallText role="status">{t("camera.window_status")}</SmallText>
        <Button tone="quiet" onClick={cameraWindow.close}>
          {t("camera.cancel_action")}
        </Button>
      </>
    ) : (
      <Button
        tone={picture === null ? "primary" : "quiet"}
        icon={<Camera aria-hidden />}
        disabled={!ready}
        onClick={() => {
          if (hasCaptureInput()) captureInput.current?.click();
          else cameraWindow.open();
        }}
      >
        {t(picture === null ? "camera.open_action" : "camera.again_action")}
      </Button>
    );
  const dropArea = (
    <DropArea {...getRootProps()} data-drag={isDragActive} data-chosen={picture !== null}>
      <FileInput {...getInputProps({ accept: "image/*", "aria-label": t("field.file_aria"), style: {} })} />
      {previewUrl !== null && (
        <Preview
          key={previewUrl}
          src={previewUrl}
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
          <span>{t(capturing ? "camera.start_body" : "field.start_body")}</span>
        )}
        {picture === null && !capturing && <PointerHint>{t("field.drop_hint")}</PointerHint>}
        <SmallText>{t("field.private_hint")}</SmallText>
        {picture === null && !capturing && <SmallText>{t("field.cloud_hint")}</SmallText>}
        <SpacedRow>
          {capturing ? (
            captureButton
          ) : (
            <Button tone={picture === null ? "primary" : "quiet"} disabled={!ready} onClick={open}>
              {t(picture === null ? "field.choose_action" : "field.another_action")}
            </Button>
          )}
        </SpacedRow>
      </DropText>
    </DropArea>
  );
  return (
    <Container ref={containerRef} role="group" aria-labelledby={titleId} data-tour="picture-field">
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
            {dropArea}
          </Tabs.Content>
        </Tabs.Root>
      ) : (
        dropArea
      )}
      {capturing && hasCaptureInput() && (
        <input
          hidden
          ref={captureInput}
          type="file"
          accept="image/*"
          capture="environment"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            target.value = "";
            if (file !== undefined) acceptCapture(file);
          }}
        />
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
      {cameraWindow.state.status === "failed" && (
        <FieldError>{t(`camera.${cameraWindow.state.failure}_error`)}</FieldError>
      )}
      {fileProblem !== null && <FieldError>{t(`field.${fileProblem}_error`)}</FieldError>}
      {state.status === "failed" && <FieldError>{describeError(state.error)}</FieldError>}
      {state.status === "examining" && (
        <Progress
          label={t("field.examining_status")}
          done={examination.progress?.done ?? 0}
          total={examination.progress?.total ?? 0}
        />
      )}
      {state.status === "examined" && <PictureVerdictNotice verdict={state.verdict} />}
      {purpose === "choose" && <PictureFacts />}
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
 * Takes files that are pasted anywhere on the page. Of two fields, the focused one takes them, else
 * the first.
 */
function usePastedFiles(
  containerRef: RefObject<HTMLElement | null>,
  enabled: boolean,
  onFiles: (files: readonly File[]) => void,
): void {
  const handlePaste = useEffectEvent((event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    const focusedField = event.target instanceof Element ? event.target.closest("[data-tour=picture-field]") : null;
    if (
      event.defaultPrevented ||
      files.length === 0 ||
      (focusedField !== null && focusedField !== containerRef.current)
    )
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

/** Whether to offer saving the picture. */
function isUsable(state: PictureState): boolean {
  return state.status === "examined" && state.verdict.level !== "red" && state.verdict.known?.kind !== "resembles";
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

/** Hidden visually but available to assistive technology. */
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
