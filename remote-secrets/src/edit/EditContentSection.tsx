import { usePortal, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Label, parseRecordDraft, RequestedOpener, useVaultOperation } from "@relicario/shared/forms";
import { Button, markVerbatim, Notice, renderVerbatim, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { Eye, PenLine } from "lucide-react";
import { useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { ContentSection } from "../form/ContentSection.tsx";
import type { SecretDraft } from "../form/secret-draft.ts";
import type { EditingSecret } from "./secret-change.ts";

interface EditContentSectionProps {
  readonly vault: Vault;
  readonly secret: EditingSecret;
  readonly disabled: boolean;
  readonly onOpened: (text: string) => void;
  /** Called when the stored content stays, to discard the opened text. */
  readonly onContentKept: () => void;
}

/**
 * Lets the person keep the stored content (default), open it for editing, or replace it without
 * opening it.
 */
export function EditContentSection({ vault, secret, disabled, onOpened, onContentKept }: EditContentSectionProps) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  const { control, setValue } = useFormContext<SecretDraft>();
  const keepsContent = useWatch({ control, name: "keepsContent" });
  const operation = useVaultOperation({ vault, keepOpen: vault.keepOpen });
  const [isUnreadableRecord, setIsUnreadableRecord] = useState(false);
  const isFile = secret.contentKind === "file";

  const startEditing = (text: string) => {
    const record = secret.contentKind === "record" && text !== "" ? parseRecordDraft(text) : [];
    setIsUnreadableRecord(record === null);
    if (record === null) setValue("kind", "text"); // as it is, so that nothing is lost
    setValue("record", [...(record ?? [])], { shouldDirty: true });
    setValue("text", secret.contentKind === "record" && record !== null ? "" : text, { shouldDirty: true });
    setValue("keepsContent", false, { shouldDirty: true });
  };
  const handleOpen = () => {
    operation.start({
      run: (options, opener) => vault.openText(secret.secretId, opener, options),
      onDone: (text) => {
        onOpened(text);
        startEditing(text);
      },
    });
  };
  const handleKeepContent = () => {
    onContentKept();
    setValue("text", "");
    setValue("record", []);
    setValue("file", null);
    setValue("kind", secret.contentKind);
    setValue("keepsContent", true, { shouldDirty: true });
  };
  if (!keepsContent) {
    return (
      <Stack $gap={4}>
        {isUnreadableRecord && <Notice tone="warn">{t("edit.record_unreadable_body")}</Notice>}
        <ContentSection disabled={disabled} />
        <div>
          <Button tone="plain" size="small" disabled={disabled} onClick={handleKeepContent}>
            {t("edit.keep_action")}
          </Button>
        </div>
      </Stack>
    );
  }
  return (
    <Stack $gap={3} data-tour="add-secret-content">
      <Label as="p">{t(`edit.content_${secret.contentKind}_label`)}</Label>
      <SmallText>
        {isFile
          ? renderVerbatim(
              t("edit.file_body", { name: markVerbatim(secret.name), size: getFormats(language).size(secret.size) }),
            )
          : t("edit.kept_body", { size: getFormats(language).size(secret.size) })}
      </SmallText>
      {!operation.asksOpener && (
        <SpacedRow>
          {!isFile && (
            <Button
              tone="quiet"
              disabled={disabled}
              pending={operation.running}
              icon={<Eye aria-hidden />}
              onClick={handleOpen}
            >
              {t("edit.open_action")}
            </Button>
          )}
          <Button
            tone="quiet"
            disabled={disabled}
            icon={<PenLine aria-hidden />}
            onClick={() => {
              startEditing("");
            }}
          >
            {t("edit.replace_action")}
          </Button>
        </SpacedRow>
      )}
      <RequestedOpener
        vault={vault}
        operation={operation}
        reason={t("open.reason_body")}
        label={t("open.open_action")}
      />
    </Stack>
  );
}
