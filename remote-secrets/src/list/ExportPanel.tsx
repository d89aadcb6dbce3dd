import type { ExportedSecrets, SecretRow, ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
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
  useShownImage,
} from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { Download, KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface ExportPanelProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly onEnd: () => void;
}

/**
 * Exports several secrets: asks for a picture, downloads an archive, then shows the age identity
 * that decrypts it.
 */
export function ExportPanel({ vault, rows, onEnd }: ExportPanelProps) {
  const { t } = useTranslation("beta-home");
  const { shown, setShown } = useShownImage(vault);
  const [missing, setMissing] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const exporting = useMutation({
    mutationFn: (image: ShownImage) => {
      const controller = new AbortController();
      running.current = controller;
      setProgress(null);
      return vault.exportSecrets(
        rows.map(({ secretId }) => secretId),
        image,
        { signal: controller.signal, onProgress: setProgress },
      );
    },
    onSuccess: ({ archive }) => {
      saveFile(archiveName, archive);
    },
    gcTime: 0, // the result holds the identity: drop them when the panel unmounts
  });
  const brokenId = isPortalError(exporting.error) ? exporting.error.details["secret_id"] : undefined;
  const brokenRow = rows.find(({ secretId }) => secretId === brokenId);
  if (exporting.data !== undefined) return <ExportResult result={exporting.data} rows={rows} onEnd={onEnd} />;
  return (
    <Card>
      <Stack $gap={4} role="group" aria-label={t("export.title", { count: rows.length })}>
        <LeaveGuard
          guarding={exporting.isPending}
          title={t("export.stop_title")}
          body={t("export.stop_body")}
          leave={t("export.leave_action")}
          stay={t("export.stay_action")}
        />
        <FocusedTitle>{t("export.title", { count: rows.length })}</FocusedTitle>
        <Muted>{t("export.lead_body")}</Muted>
        <vault.PictureField
          purpose="show"
          value={shown}
          disabled={exporting.isPending}
          onChange={(value) => {
            setShown(value);
            setMissing(false);
          }}
        />
        {missing && <FieldError>{t("export.missing_error")}</FieldError>}
        <ErrorNotice error={exporting.error} />
        {brokenRow !== undefined && (
          <FieldError>{t("export.broken_error", { title: titleOf(brokenRow, t) })}</FieldError>
        )}
        {exporting.isPending && (
          <Progress
            label={t(progress?.phase === "fetching" ? "export.running_status" : "export.looking_status")}
            done={progress?.done ?? 0}
            total={progress?.total ?? 0}
          />
        )}
        <SpacedRow>
          <Button
            pending={exporting.isPending}
            onClick={() => {
              setMissing(shown === null);
              if (shown !== null) exporting.mutate(shown);
            }}
          >
            {t("export.start_action")}
          </Button>
          <Button
            tone="quiet"
            onClick={() => {
              if (exporting.isPending) running.current?.abort();
              else onEnd();
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
function FocusedTitle({ children }: { readonly children: string }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    title.current?.focus();
  }, []);
  return (
    <SectionTitle ref={title} tabIndex={-1}>
      {children}
    </SectionTitle>
  );
}

const archiveName = "secrets-export.zip";
const identityName = "exit.txt";

type Translate = ReturnType<typeof useTranslation<"beta-home">>["t"];

function titleOf({ label }: SecretRow, t: Translate): string {
  return label === null || label.title === "" ? t("row.untitled_title") : label.title;
}

interface ExportResultProps {
  readonly result: ExportedSecrets;
  readonly rows: readonly SecretRow[];
  readonly onEnd: () => void;
}

/**
 * The identity exists only in this component, so leaving before it was saved or printed asks first.
 */
function ExportResult({ result, rows, onEnd }: ExportResultProps) {
  const { t } = useTranslation("beta-home");
  const [identitySaved, setIdentitySaved] = useState(false);
  const [identityShown, setIdentityShown] = useState(false);
  const { identity, archive, exported, left, notVerified } = result;
  const titlesOf = (ids: readonly string[]) =>
    rows
      .filter(({ secretId }) => ids.includes(secretId))
      .map((row) => titleOf(row, t))
      .join(", ");
  const handleIdentitySaved = () => {
    setIdentitySaved(true);
  };
  return (
    <Card>
      <Stack $gap={4}>
        <LeaveGuard
          guarding={!identitySaved}
          title={t("export.leave_title")}
          body={t("export.leave_body")}
          leave={t("export.leave_action")}
          stay={t("export.stay_action")}
        />
        <FocusedTitle>{t("export.done_title", { count: exported })}</FocusedTitle>
        <Muted>{t("export.done_body", { name: archiveName })}</Muted>
        {left.length > 0 && (
          <Notice title={t("export.left_title", { count: left.length })}>
            {t("export.left_body", { titles: titlesOf(left) })}
          </Notice>
        )}
        {notVerified.length > 0 && (
          <Notice tone="warn" title={t("export.author_title")}>
            {t("export.author_body", { titles: titlesOf(notVerified) })}
          </Notice>
        )}
        <Stack $gap={2}>
          <SmallText>{t("export.identity_body")}</SmallText>
          <Identity tabIndex={0} aria-label={t("export.identity_aria")}>
            {identityShown ? identity : "•".repeat(24)}
          </Identity>
        </Stack>
        <SpacedRow $align="start">
          <Button
            icon={<KeyRound aria-hidden />}
            onClick={() => {
              saveFile(identityName, `${identity}\n`);
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
              setIdentityShown(!identityShown);
            }}
          >
            {t(identityShown ? "export.hide_action" : "export.show_action")}
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
          <Button tone={identitySaved ? "primary" : "quiet"} disabled={!identitySaved} onClick={onEnd}>
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
