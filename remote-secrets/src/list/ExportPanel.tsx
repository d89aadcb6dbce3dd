import type { ExportedSecrets, SecretRow, Vault } from "@relicario/shared/contract";
import {
  CopyButton,
  FieldError,
  OpenerPrompt,
  PrintButton,
  saveFile,
  useVaultOperation,
} from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  LeaveGuard,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
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
 * Exports secrets: asks for an opener, downloads an archive, then offers the age identity that
 * opens the archive.
 */
export function ExportPanel({ vault, rows, onClose }: ExportPanelProps) {
  const { t } = useTranslation("beta-home");
  const operation = useVaultOperation({ vault, asksOpener: true });
  /** Contains the identity, so it must not outlive the panel. */
  const [result, setResult] = useState<ExportedSecrets | null>(null);
  const handleSubmit = () => {
    operation.startWithOpener({
      run: (options, opener) =>
        vault.exportSecrets(
          rows.map(({ secretId }) => secretId),
          opener,
          options,
        ),
      onDone: (exported) => {
        saveFile(archiveName, exported.archive);
        setResult(exported);
      },
    });
  };
  const damagedId = operation.error?.details["secret_id"];
  const damagedRow = rows.find(({ secretId }) => secretId === damagedId);
  if (result !== null) return <ExportResult result={result} rows={rows} onClose={onClose} />;
  return (
    <Card>
      <Stack $gap={4} role="group" aria-label={t("export.title", { count: rows.length })}>
        <LeaveGuard
          active={operation.running}
          title={t("export.stop_title")}
          body={t("export.stop_body")}
          leaveLabel={t("export.leave_action")}
          stayLabel={t("export.stay_action")}
        />
        <AutoFocusTitle>{t("export.title", { count: rows.length })}</AutoFocusTitle>
        <Muted>{t("export.lead_body")}</Muted>
        <OpenerPrompt
          vault={vault}
          operation={operation}
          label={t("export.start_action")}
          phaseTexts={{ fetching: t("export.running_status") }}
          failure={
            damagedRow === undefined ? undefined : (
              <>
                <ErrorNotice error={operation.error} />
                <FieldError>
                  {renderVerbatim(t("export.broken_error", { title: markVerbatim(getTitle(damagedRow, t)) }))}
                </FieldError>
              </>
            )
          }
          onSubmit={handleSubmit}
          onClose={onClose}
        />
      </Stack>
    </Card>
  );
}

/**
 * Title that takes the focus on mount, because the focused element was removed. Screen readers then
 * announce the title.
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
 * Shows the result of an export. Confirms leaving until the identity is saved or printed, because
 * the identity is stored nowhere.
 */
function ExportResult({ result, rows, onClose }: ExportResultProps) {
  const { t } = useTranslation("beta-home");
  const [identitySaved, setIdentitySaved] = useState(false);
  const [identityVisible, setIdentityVisible] = useState(false);
  const { identity, archive, exportedCount, skippedIds, unverifiedIds } = result;
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
        <AutoFocusTitle>{t("export.done_title", { count: exportedCount })}</AutoFocusTitle>
        <Muted>{renderVerbatim(t("export.done_body", { name: markVerbatim(archiveName) }))}</Muted>
        {skippedIds.length > 0 && (
          <Notice title={t("export.left_title", { count: skippedIds.length })}>
            {renderVerbatim(t("export.left_body", { titles: markVerbatim(joinTitles(skippedIds)) }))}
          </Notice>
        )}
        {unverifiedIds.length > 0 && (
          <Notice tone="warn" title={t("export.author_title")}>
            {renderVerbatim(t("export.author_body", { titles: markVerbatim(joinTitles(unverifiedIds)) }))}
          </Notice>
        )}
        <Stack $gap={2}>
          <SmallText>{t("export.identity_body")}</SmallText>
          <Identity tabIndex={0} translate="no" aria-label={t("export.identity_aria")}>
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
            getText={() => identity}
            onPrinted={handleIdentitySaved}
          />
          <CopyButton sensitive label={t("export.copy_action")} getText={() => identity} />
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
