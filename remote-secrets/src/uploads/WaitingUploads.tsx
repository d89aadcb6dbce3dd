import { usePortal, type PendingUpload, type Vault, type VaultState } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { OpenerPrompt, OperationProgress, type OpenerPromptProps } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  markVerbatim,
  Notice,
  Progress,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  visuallyHidden,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, type Ref } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { imagesQuery, uploadsQuery } from "../data/secrets.ts";
import { useUpload, type OpenerReason } from "./useUpload.ts";

interface WaitingUploadsProps {
  readonly vault: Vault;
  readonly status: VaultState["status"];
}

/** Lists uploads of large files that run or can be resumed. Renders nothing if there are none. */
export function WaitingUploads({ vault, status }: WaitingUploadsProps) {
  const { t } = useTranslation("file-upload");
  const { user } = usePortal();
  const titleId = useId();
  const uploads = useQuery(uploadsQuery(vault, user.userId, status));
  const { data: images = [] } = useQuery(imagesQuery(vault, user.userId, status));
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
                imageCount={images.length}
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
  readonly imageCount: number;
}

function UploadItem({ vault, status, upload, now, imageCount }: UploadItemProps) {
  const { t } = useTranslation("file-upload");
  const { language, confirm } = usePortal();
  const fileInput = useRef<HTMLInputElement>(null);
  const { title, name, size, sentBytes, startedAt, state, needsFile } = upload;
  const restartFileInput = useRef<HTMLInputElement>(null);
  const { operation, error, openerReason, resume, restart, discard } = useUpload(vault, upload, imageCount);
  const formats = getFormats(language);
  const displayTitle = title ?? t("waiting.locked_title", { day: formats.date(startedAt) });
  const running = operation.running || state === "running";
  const vaultProgress = operation.progress;
  const progress = vaultProgress?.phase === "sending" ? vaultProgress : { done: sentBytes, total: size };
  const allSent = state === "sealed" || (progress.total > 0 && progress.done >= progress.total);

  const action = t(
    state === "sealed" ? "waiting.publish_action" : needsFile ? "waiting.choose_action" : "waiting.resume_action",
  );
  const handleResume = () => {
    if (needsFile && (openerReason === null || operation.opener !== null)) fileInput.current?.click();
    else resume(null);
  };
  const failure = (
    <ErrorNotice error={error}>
      {isPortalError(error, "file_changed", "upload_dropped", "upload_incomplete") && (
        <Button
          size="small"
          aria-label={t("waiting.named_aria", { action: t("waiting.restart_action"), title: displayTitle })}
          onClick={() => restartFileInput.current?.click()}
        >
          {t("waiting.restart_action")}
        </Button>
      )}
    </ErrorNotice>
  );
  const handleDiscard = async () => {
    const confirmed = await confirm({
      title: t("waiting.discard_title"),
      description: t("waiting.discard_body"),
      confirmLabel: t("waiting.discard_action"),
      alert: true,
    });
    if (confirmed) discard();
  };
  return (
    <Stack $gap={3}>
      <div>
        <Title>{displayTitle}</Title>
        <SmallText>
          {renderVerbatim(
            t(
              allSent
                ? "waiting.sealed_body"
                : running
                  ? "waiting.running_body"
                  : needsFile
                    ? "waiting.file_body"
                    : "waiting.stopped_body",
              {
                name: markVerbatim(name ?? t("waiting.unnamed_body")),
                done: formats.size(sentBytes),
                size: formats.size(size),
              },
            ),
          )}
        </SmallText>
      </div>
      <Progress
        label={t(running ? "waiting.sending_status" : "waiting.sent_status")}
        done={progress.done}
        total={progress.total}
      />
      {openerReason === null && (vaultProgress?.phase === "picture" || vaultProgress?.phase === "passphrase") && (
        <OperationProgress progress={vaultProgress} initialPhase="picture" />
      )}
      {!running && <ExpiryNotice upload={upload} locked={status === "locked"} now={now} />}
      {openerReason === null ? (
        failure
      ) : (
        <UploadOpenerPrompt
          vault={vault}
          operation={operation}
          title={displayTitle}
          reason={openerReason}
          failure={failure}
          onSubmit={handleResume}
        />
      )}
      <SpacedRow>
        {!running && openerReason === null && (
          <Button
            size="small"
            aria-label={t("waiting.named_aria", { action, title: displayTitle })}
            onClick={handleResume}
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
      <FileChooser ref={fileInput} label={t("waiting.file_aria", { title: displayTitle })} onChoose={resume} />
      <FileChooser
        ref={restartFileInput}
        label={t("waiting.restart_aria", { title: displayTitle })}
        onChoose={restart}
      />
    </Stack>
  );
}

interface UploadOpenerPromptProps extends Pick<OpenerPromptProps, "operation" | "failure" | "onSubmit"> {
  readonly vault: Vault;
  readonly title: string;
  readonly reason: OpenerReason;
}

/**
 * Asks for the opener that publishing needs.
 *
 * After `opener_needed` the account may not exist yet, and the picture may become a new opener. So
 * its quality is tested and its passphrase typed twice; a mistyped passphrase would otherwise
 * protect a new account. After `show_opener_first` any opener in use is accepted.
 */
function UploadOpenerPrompt({ title, reason, ...promptProps }: UploadOpenerPromptProps) {
  const { t } = useTranslation("file-upload");
  const bodyRef = useRef<HTMLParagraphElement>(null);
  const choosesPicture = reason === "opener_needed";
  const action = t(choosesPicture ? "waiting.opener_action" : "waiting.show_action");
  useEffect(() => {
    bodyRef.current?.focus(); // the clicked button no longer exists
  }, []);
  return (
    <Stack
      $gap={4}
      role="group"
      aria-label={t(choosesPicture ? "waiting.opener_aria" : "waiting.show_aria", { title })}
    >
      <p ref={bodyRef} tabIndex={-1}>
        {t(`waiting.${reason}_body`)}
      </p>
      <OpenerPrompt
        {...promptProps}
        label={action}
        size="small"
        aria-label={t("waiting.named_aria", { action, title })}
        purpose={choosesPicture ? "choose" : "show"}
        pictureOnly={choosesPicture}
        cancellable={false}
        {...(choosesPicture ? { missingText: t("waiting.opener_missing_error") } : {})}
      />
    </Stack>
  );
}

interface FileChooserProps {
  readonly ref: Ref<HTMLInputElement>;
  readonly label: string;
  readonly onChoose: (file: File) => void;
}

/** Hidden file input, opened by a button. */
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

/** Remaining time below which the expiry is shown as a warning. */
const urgentMilliseconds = 3 * 3_600_000;

/**
 * Shows until when an upload must be resumed. The day is today or tomorrow, because the upload is
 * dropped a day after its last part.
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
