import type { ExportedSecrets, SecretRow, OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { CopyButton, FieldError, PrintButton, saveFile } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  LeaveGuard,
  Muted,
  Notice,
  Progress,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  useOpenerHandle,
} from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { Download, KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface ExportPanelProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly onClose: () => void;
}

/**
 * Exports several secrets: asks for a picture, downloads an archive, then shows the age identity
 * that decrypts it.
 */
export function ExportPanel({ vault, rows, onClose }: ExportPanelProps) {
  const { t } = useTranslation("beta-home");
  const { openerHandle, setOpenerHandle } = useOpenerHandle(vault);
  const [pictureMissing, setPictureMissing] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);
  const exportMutation = useMutation({
    mutationFn: (handle: OpenerHandle) => {
      const controller = new AbortController();
      abortController.current = controller;
      setProgress(null);
      return vault.exportSecrets(
        rows.map(({ secretId }) => secretId),
        handle,
        { signal: controller.signal, onProgress: setProgress },
      );
    },
    onSuccess: ({ archive }) => {
      saveFile(archiveName, archive);
    },
    gcTime: 0, // the result holds the identity: drop them when the panel unmounts
  });
  const damagedId = isPortalError(exportMutation.error) ? exportMutation.error.details["secret_id"] : undefined;
  const damagedRow = rows.find(({ secretId }) => secretId === damagedId);
  if (exportMutation.data !== undefined)
    return <ExportResult result={exportMutation.data} rows={rows} onClose={onClose} />;
  return (
    <Card>
      <Stack $gap={4} role="group" aria-label={t("export.title", { count: rows.length })}>
        <LeaveGuard
          active={exportMutation.isPending}
          title={t("export.stop_title")}
          body={t("export.stop_body")}
          leaveLabel={t("export.leave_action")}
          stayLabel={t("export.stay_action")}
        />
        <AutoFocusTitle>{t("export.title", { count: rows.length })}</AutoFocusTitle>
        <Muted>{t("export.lead_body")}</Muted>
        <vault.PictureField
          purpose="show"
          value={openerHandle}
          disabled={exportMutation.isPending}
          onChange={(value) => {
            setOpenerHandle(value);
            setPictureMissing(false);
          }}
        />
        {pictureMissing && <FieldError>{t("export.missing_error")}</FieldError>}
        <ErrorNotice error={exportMutation.error} />
        {damagedRow !== undefined && (
          <FieldError>{t("export.broken_error", { title: getTitle(damagedRow, t) })}</FieldError>
        )}
        {exportMutation.isPending && (
          <Progress
            label={t(progress?.phase === "fetching" ? "export.running_status" : "export.looking_status")}
            done={progress?.done ?? 0}
            total={progress?.total ?? 0}
          />
        )}
        <SpacedRow>
          <Button
            pending={exportMutation.isPending}
            onClick={() => {
              setPictureMissing(openerHandle === null);
              if (openerHandle !== null) exportMutation.mutate(openerHandle);
            }}
          >
            {t("export.start_action")}
          </Button>
          <Button
            tone="quiet"
            onClick={() => {
              if (exportMutation.isPending) abortController.current?.abort();
              else onClose();
            }}
          >
            {t("export.cancel_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/**
 * Takes the focus on mount: the element that had it was removed, and a screen reader announces this
 * title instead.
 */
function AutoFocusTitle({ children }: { readonly children: string }) {
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus();
  }, []);
  return (
    <SectionTitle ref={titleRef} tabIndex={-1}>
      {children}
    </SectionTitle>
  );
}

const archiveName = "secrets-export.zip";
const identityFileName = "exit.txt";

type Translate = ReturnType<typeof useTranslation<"beta-home">>["t"];

function getTitle({ label }: SecretRow, t: Translate): string {
  return label === null || label.title === "" ? t("row.untitled_title") : label.title;
}

interface ExportResultProps {
  readonly result: ExportedSecrets;
  readonly rows: readonly SecretRow[];
  readonly onClose: () => void;
}

/**
 * The identity exists only in this component, so leaving before it was saved or printed asks first.
 */
function ExportResult({ result, rows, onClose }: ExportResultProps) {
  const { t } = useTranslation("beta-home");
  const [identitySaved, setIdentitySaved] = useState(false);
  const [identityVisible, setIdentityVisible] = useState(false);
  const { identity, archive, exported, skipped, notVerified } = result;
  const joinTitles = (ids: readonly string[]) =>
    rows
      .filter(({ secretId }) => ids.includes(secretId))
      .map((row) => getTitle(row, t))
      .join(", ");
  const handleIdentitySaved = () => {
    setIdentitySaved(true);
  };
  return (
    <Card>
      <Stack $gap={4}>
        <LeaveGuard
          active={!identitySaved}
          title={t("export.leave_title")}
          body={t("export.leave_body")}
          leaveLabel={t("export.leave_action")}
          stayLabel={t("export.stay_action")}
        />
        <AutoFocusTitle>{t("export.done_title", { count: exported })}</AutoFocusTitle>
        <Muted>{t("export.done_body", { name: archiveName })}</Muted>
        {skipped.length > 0 && (
          <Notice title={t("export.left_title", { count: skipped.length })}>
            {t("export.left_body", { titles: joinTitles(skipped) })}
          </Notice>
        )}
        {notVerified.length > 0 && (
          <Notice tone="warn" title={t("export.author_title")}>
            {t("export.author_body", { titles: joinTitles(notVerified) })}
          </Notice>
        )}
        <Stack $gap={2}>
          <SmallText>{t("export.identity_body")}</SmallText>
          <Identity tabIndex={0} aria-label={t("export.identity_aria")}>
            {identityVisible ? identity : "•".repeat(24)}
          </Identity>
        </Stack>
        <SpacedRow $align="start">
          <Button
            icon={<KeyRound aria-hidden />}
            onClick={() => {
              saveFile(identityFileName, `${identity}\n`);
              handleIdentitySaved();
            }}
          >
            {t("export.identity_action")}
          </Button>
          <PrintButton
            label={t("export.print_action")}
            title={t("export.print_title")}
            text={() => identity}
            onPrinted={handleIdentitySaved}
          />
          <CopyButton secret label={t("export.copy_action")} text={() => identity} />
          <Button
            tone="quiet"
            onClick={() => {
              setIdentityVisible(!identityVisible);
            }}
          >
            {t(identityVisible ? "export.hide_action" : "export.show_action")}
          </Button>
        </SpacedRow>
        <SpacedRow>
          <Button
            tone="quiet"
            icon={<Download aria-hidden />}
            onClick={() => {
              saveFile(archiveName, archive);
            }}
          >
            {t("export.again_action")}
          </Button>
          <Button tone={identitySaved ? "primary" : "quiet"} disabled={!identitySaved} onClick={onClose}>
            {t("export.end_action")}
          </Button>
        </SpacedRow>
        {!identitySaved && <SmallText>{t("export.take_hint")}</SmallText>}
      </Stack>
    </Card>
  );
}

const Identity = styled.code`
  display: block;
  padding: ${space(3)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  font-size: ${s("textSmall")};
  overflow-wrap: anywhere;
`;
