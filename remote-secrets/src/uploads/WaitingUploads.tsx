import {
  usePortal,
  type ProtectRequest,
  type Vault,
  type VaultProgress,
  type VaultState,
  type WaitingUpload,
} from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { formatsOf } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  Notice,
  Progress,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  visuallyHidden,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useId, useRef, type Ref } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { uploadsQuery } from "../data/secrets.ts";
import { UploadOpener } from "./UploadOpener.tsx";
import { useResumeState, useUploadActions } from "./useUploadActions.ts";

interface WaitingUploadsProps {
  readonly vault: Vault;
  readonly status: VaultState["status"];
}

/**
 * Uploads of large files that are running or can be resumed. Renders nothing when there are none.
 */
export function WaitingUploads({ vault, status }: WaitingUploadsProps) {
  const { t } = useTranslation("file-upload");
  const { user, notify } = usePortal();
  const titleId = useId();
  const uploads = useQuery(uploadsQuery(vault, user.userId, status));
  const { resume, restart, discard } = useUploadActions(vault, () => {
    notify({ tone: "success", text: t("waiting.done_status") });
  });
  if (uploads.isError) return <ErrorNotice error={uploads.error} onRetry={() => void uploads.refetch()} />;
  if (uploads.data === undefined || uploads.data.length === 0) return null;
  return (
    <Card aria-labelledby={titleId}>
      <Stack $gap={4}>
        <SectionTitle id={titleId}>{t("waiting.title")}</SectionTitle>
        <Uploads>
          {uploads.data.map((upload) => (
            <li key={upload.uploadId}>
              <OneUpload
                vault={vault}
                status={status}
                upload={upload}
                now={uploads.dataUpdatedAt}
                onResume={resume}
                onRestart={restart}
                onDiscard={discard}
              />
            </li>
          ))}
        </Uploads>
      </Stack>
    </Card>
  );
}

interface OneUploadProps extends WaitingUploadsProps {
  readonly upload: WaitingUpload;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly onResume: (
    uploadId: string,
    file: Blob | null,
    protection: ProtectRequest["protection"] | null,
  ) => Promise<void>;
  readonly onRestart: (uploadId: string, file: Blob) => Promise<void>;
  readonly onDiscard: (uploadId: string) => Promise<void>;
}

function OneUpload({ vault, status, upload, now, onResume, onRestart, onDiscard }: OneUploadProps) {
  const { t } = useTranslation("file-upload");
  const { language, confirm } = usePortal();
  const chooser = useRef<HTMLInputElement>(null);
  const { uploadId, title, name, size, sent, startedAt, state, needsFile } = upload;
  const chooserAnew = useRef<HTMLInputElement>(null);
  const resuming = useResumeState(uploadId);
  const asked = resuming?.asked ?? null;
  /** What was shown for it, while the file is chosen. */
  const protection = useRef<ProtectRequest["protection"]>(null);
  const formats = formatsOf(language);
  const shownTitle = title ?? t("waiting.locked_title", { day: formats.date(startedAt) });
  const running = resuming?.status === "running" || state === "running";
  const step = resuming?.status === "running" ? resuming.progress : null;
  const progress = step?.phase === "sending" ? step : { done: sent, total: size };
  const allSent = state === "sealed" || (progress.total > 0 && progress.done >= progress.total);

  const action = t(
    state === "sealed" ? "waiting.publish_action" : needsFile ? "waiting.choose_action" : "waiting.resume_action",
  );
  const handleResume = (shown: ProtectRequest["protection"] | null) => {
    protection.current = shown;
    if (needsFile) chooser.current?.click();
    else void onResume(uploadId, null, shown);
  };
  const handleDiscard = async () => {
    const sure = await confirm({
      title: t("waiting.discard_title"),
      description: t("waiting.discard_body"),
      confirmLabel: t("waiting.discard_action"),
      alert: true,
    });
    if (sure) await onDiscard(uploadId);
  };
  return (
    <Stack $gap={3}>
      <div>
        <Title>{shownTitle}</Title>
        <SmallText>
          {t(
            allSent
              ? "waiting.sealed_body"
              : running
                ? "waiting.running_body"
                : needsFile
                  ? "waiting.file_body"
                  : "waiting.stopped_body",
            {
              name: name ?? t("waiting.unnamed_body"),
              done: formats.size(sent),
              size: formats.size(size),
            },
          )}
        </SmallText>
      </div>
      <Progress
        label={t(running ? "waiting.sending_status" : "waiting.sent_status")}
        done={progress.done}
        total={progress.total}
      />
      <PictureProgress step={step} />
      {!running && <Ending upload={upload} locked={status === "locked"} now={now} />}
      {resuming?.status === "failed" && (
        <ErrorNotice error={resuming.error}>
          {isPortalError(resuming.error, "file_changed", "upload_dropped", "upload_incomplete") && (
            <Button
              size="small"
              aria-label={t("waiting.named_aria", { action: t("waiting.restart_action"), title: shownTitle })}
              onClick={() => chooserAnew.current?.click()}
            >
              {t("waiting.restart_action")}
            </Button>
          )}
        </ErrorNotice>
      )}
      {asked !== null && (
        <UploadOpener
          vault={vault}
          status={status}
          title={shownTitle}
          reason={asked}
          busy={running}
          onShown={handleResume}
        />
      )}
      <SpacedRow>
        {!running && asked === null && (
          <Button
            size="small"
            aria-label={t("waiting.named_aria", { action, title: shownTitle })}
            onClick={() => {
              handleResume(null);
            }}
          >
            {action}
          </Button>
        )}
        <Button
          tone="quiet"
          size="small"
          aria-label={t("waiting.named_aria", { action: t("waiting.discard_action"), title: shownTitle })}
          onClick={() => void handleDiscard()}
        >
          {t("waiting.discard_action")}
        </Button>
      </SpacedRow>
      <FileChooser
        ref={chooser}
        label={t("waiting.file_aria", { title: shownTitle })}
        onChoose={(file) => void onResume(uploadId, file, protection.current)}
      />
      <FileChooser
        ref={chooserAnew}
        label={t("waiting.restart_aria", { title: shownTitle })}
        onChoose={(file) => void onRestart(uploadId, file)}
      />
    </Stack>
  );
}

/** What takes so long once a picture is shown. */
function PictureProgress({ step }: { readonly step: VaultProgress | null }) {
  const { t } = useTranslation("file-upload");
  if (step?.phase !== "picture" && step?.phase !== "passphrase") return null;
  return <Progress label={t(`waiting.${step.phase}_status`)} done={step.done} total={step.total} />;
}

interface FileChooserProps {
  readonly ref: Ref<HTMLInputElement>;
  readonly label: string;
  readonly onChoose: (file: File) => void;
}

/** The browser's window for a file; a button clicks it. */
function FileChooser({ ref, label, onChoose }: FileChooserProps) {
  return (
    <FileInput
      ref={ref}
      type="file"
      tabIndex={-1}
      aria-label={label}
      onChange={(event) => {
        const file = event.target.files?.[0];
        event.target.value = ""; // lets `change` fire again for the same file
        if (file !== undefined) onChoose(file);
      }}
    />
  );
}

/** So long before its end it is said more visibly. */
const urgentMilliseconds = 3 * 3_600_000;

/**
 * Until when a waiting upload has to go on: today or tomorrow, since it is dropped a day after its
 * last part.
 */
function Ending({
  upload: { expiresAt, state },
  locked,
  now,
}: Pick<OneUploadProps, "upload" | "now"> & { readonly locked: boolean }) {
  const { t } = useTranslation("file-upload");
  const { language } = usePortal();
  const act = state !== "sealed" ? "resume" : locked ? "unlock" : "publish";
  const day = new Date(expiresAt).toDateString() === new Date(now).toDateString() ? "today" : "tomorrow";
  const text = t(`waiting.${act}_${day}_body`, { time: formatsOf(language).time(expiresAt) });
  if (Date.parse(expiresAt) - now > urgentMilliseconds) return <SmallText>{text}</SmallText>;
  return (
    <Notice tone="warn" role="status">
      {text}
    </Notice>
  );
}

const Uploads = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(5)};
  & > li + li {
    padding-top: ${space(5)};
    border-top: 1px solid ${s("border")};
  }
`;

const Title = styled.h3`
  font-size: ${s("textBase")};
  overflow-wrap: anywhere;
`;

const FileInput = styled.input`
  ${visuallyHidden}
`;
