import {
  usePortal,
  type NewSecretInput,
  type Vault,
  type VaultProgress,
  type VaultState,
  type PendingUpload,
} from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { getFormats } from "@relicario/shared/i18n";
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
import { UploadOpenerPrompt } from "./UploadOpenerPrompt.tsx";
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
              <UploadItem
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

interface UploadItemProps extends WaitingUploadsProps {
  readonly upload: PendingUpload;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly onResume: (
    uploadId: string,
    file: Blob | null,
    protection: NewSecretInput["protection"] | null,
  ) => Promise<void>;
  readonly onRestart: (uploadId: string, file: Blob) => Promise<void>;
  readonly onDiscard: (uploadId: string) => Promise<void>;
}

function UploadItem({ vault, status, upload, now, onResume, onRestart, onDiscard }: UploadItemProps) {
  const { t } = useTranslation("file-upload");
  const { language, confirm } = usePortal();
  const fileInput = useRef<HTMLInputElement>(null);
  const { uploadId, title, name, size, sent, startedAt, state, needsFile } = upload;
  const restartFileInput = useRef<HTMLInputElement>(null);
  const resumeState = useResumeState(uploadId);
  const openerReason = resumeState?.openerReason ?? null;
  /** What was shown for it, while the file is chosen. */
  const pendingProtection = useRef<NewSecretInput["protection"]>(null);
  const formats = getFormats(language);
  const displayTitle = title ?? t("waiting.locked_title", { day: formats.date(startedAt) });
  const running = resumeState?.status === "running" || state === "running";
  const vaultProgress = resumeState?.status === "running" ? resumeState.progress : null;
  const progress = vaultProgress?.phase === "sending" ? vaultProgress : { done: sent, total: size };
  const allSent = state === "sealed" || (progress.total > 0 && progress.done >= progress.total);

  const action = t(
    state === "sealed" ? "waiting.publish_action" : needsFile ? "waiting.choose_action" : "waiting.resume_action",
  );
  const handleResume = (submittedProtection: NewSecretInput["protection"] | null) => {
    pendingProtection.current = submittedProtection;
    if (needsFile) fileInput.current?.click();
    else void onResume(uploadId, null, submittedProtection);
  };
  const handleDiscard = async () => {
    const confirmed = await confirm({
      title: t("waiting.discard_title"),
      description: t("waiting.discard_body"),
      confirmLabel: t("waiting.discard_action"),
      alert: true,
    });
    if (confirmed) await onDiscard(uploadId);
  };
  return (
    <Stack $gap={3}>
      <div>
        <Title>{displayTitle}</Title>
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
      <PictureProgress progress={vaultProgress} />
      {!running && <ExpiryNotice upload={upload} locked={status === "locked"} now={now} />}
      {resumeState?.status === "failed" && (
        <ErrorNotice error={resumeState.error}>
          {isPortalError(resumeState.error, "file_changed", "upload_dropped", "upload_incomplete") && (
            <Button
              size="small"
              aria-label={t("waiting.named_aria", { action: t("waiting.restart_action"), title: displayTitle })}
              onClick={() => restartFileInput.current?.click()}
            >
              {t("waiting.restart_action")}
            </Button>
          )}
        </ErrorNotice>
      )}
      {openerReason !== null && (
        <UploadOpenerPrompt
          vault={vault}
          status={status}
          title={displayTitle}
          reason={openerReason}
          busy={running}
          onSubmit={handleResume}
        />
      )}
      <SpacedRow>
        {!running && openerReason === null && (
          <Button
            size="small"
            aria-label={t("waiting.named_aria", { action, title: displayTitle })}
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
          aria-label={t("waiting.named_aria", { action: t("waiting.discard_action"), title: displayTitle })}
          onClick={() => void handleDiscard()}
        >
          {t("waiting.discard_action")}
        </Button>
      </SpacedRow>
      <FileChooser
        ref={fileInput}
        label={t("waiting.file_aria", { title: displayTitle })}
        onChoose={(file) => void onResume(uploadId, file, pendingProtection.current)}
      />
      <FileChooser
        ref={restartFileInput}
        label={t("waiting.restart_aria", { title: displayTitle })}
        onChoose={(file) => void onRestart(uploadId, file)}
      />
    </Stack>
  );
}

/** What takes so long once a picture is shown. */
function PictureProgress({ progress }: { readonly progress: VaultProgress | null }) {
  const { t } = useTranslation("file-upload");
  if (progress?.phase !== "picture" && progress?.phase !== "passphrase") return null;
  return <Progress label={t(`waiting.${progress.phase}_status`)} done={progress.done} total={progress.total} />;
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
function ExpiryNotice({
  upload: { expiresAt, state },
  locked,
  now,
}: Pick<UploadItemProps, "upload" | "now"> & { readonly locked: boolean }) {
  const { t } = useTranslation("file-upload");
  const { language } = usePortal();
  const nextAction = state !== "sealed" ? "resume" : locked ? "unlock" : "publish";
  const day = new Date(expiresAt).toDateString() === new Date(now).toDateString() ? "today" : "tomorrow";
  const text = t(`waiting.${nextAction}_${day}_body`, { time: getFormats(language).time(expiresAt) });
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
