import { formatRecordText, parseOneTimeCode, type RecordField } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { PrintButton } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { s, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { GuardedButton } from "../openers/GuardedButton.tsx";
import { CopySecretButton } from "./CopySecretButton.tsx";
import { DownloadButton } from "./DownloadButton.tsx";
import { revealMilliseconds, useReveal } from "./useReveal.ts";
import { FieldRow, HiddenValue, RevealButton, Value } from "./FieldRow.tsx";
import { OneTimeCodeRow } from "./OneTimeCodeRow.tsx";

interface RevealedRecordProps {
  readonly title: string;
  /** File name. */
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly fields: readonly RecordField[];
}

/** Shows the fields in their order. Each field is revealed and copied separately. */
export function RevealedRecord({ title, name, content, fields }: RevealedRecordProps) {
  const { t } = useTranslation("common");
  return (
    <Stack $gap={4}>
      <FieldList>
        {fields.map((field, index) => (
          <RecordRow key={index} field={field} />
        ))}
      </FieldList>
      <SpacedRow $align="start">
        <DownloadButton name={name} content={content} />
        <PrintButton
          Button={GuardedButton}
          label={t("reveal.print_action")}
          title={title}
          getText={() => formatRecordText(fields)}
        />
      </SpacedRow>
      <SmallText>{t("record.hides_hint", { seconds: revealMilliseconds / 1000 })}</SmallText>
    </Stack>
  );
}

interface RowProps {
  readonly field: RecordField;
}

function RecordRow({ field }: RowProps) {
  const { label, value, kind } = field;
  const settings = useMemo(() => (kind === "one_time_code" ? parseOneTimeCode(value) : null), [kind, value]);
  if (settings !== null) return <OneTimeCodeRow label={label} settings={settings} />;
  return kind === "secret" || kind === "note" || kind === "one_time_code" ? (
    <HiddenRow field={field} />
  ) : (
    <VisibleRow field={field} />
  );
}

function VisibleRow({ field: { label, value, kind } }: RowProps) {
  const { t } = useTranslation("common");
  const { language } = usePortal();
  const url = kind === "address" ? toWebAddress(value) : null;
  return (
    <FieldRow
      label={label}
      value={
        <Value dir="auto" translate="no">
          {url !== null ? (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {value}
            </a>
          ) : kind === "date" ? (
            getFormats(language).date(`${value}T12:00:00`)
          ) : (
            value
          )}
        </Value>
      }
      actions={<CopySecretButton size="small" label={t("reveal.copy_action")} getText={() => value} />}
    />
  );
}

function HiddenRow({ field: { label, value, kind } }: RowProps) {
  const { t } = useTranslation("common");
  const { revealed, setRevealed } = useReveal();
  const isNote = kind === "note";
  return (
    <FieldRow
      label={label}
      value={
        <>
          {kind === "one_time_code" && <SmallText>{t("record.code_unknown_body")}</SmallText>}
          {revealed ? (
            <Value $mono={!isNote} dir={isNote ? "auto" : "ltr"}>
              {value}
            </Value>
          ) : (
            <HiddenValue />
          )}
        </>
      }
      actions={
        <>
          <RevealButton revealed={revealed} onChange={setRevealed} />
          <CopySecretButton size="small" label={t("reveal.copy_action")} getText={() => value} />
        </>
      }
    />
  );
}

/**
 * Returns the address if a browser can open it as a page; null for any other text, such as
 * `javascript:`.
 */
function toWebAddress(text: string): string | null {
  if (!URL.canParse(text.trim())) return null;
  const { protocol, href } = new URL(text.trim());
  return ["http:", "https:"].includes(protocol) ? href : null;
}

const FieldList = styled.div`
  display: flex;
  flex-direction: column;
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
`;
