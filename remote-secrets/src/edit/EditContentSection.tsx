import { usePortal, type OpenerHandle, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Label } from "@relicario/shared/forms";
import { Button, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { Eye, PenLine } from "lucide-react";
import { useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { ContentSection } from "../form/ContentSection.tsx";
import type { SecretDraft } from "../form/secret-draft.ts";
import { OpenContentPanel } from "./OpenContentPanel.tsx";
import type { EditingSecret } from "./secret-change.ts";

interface EditContentSectionProps {
  readonly vault: Vault;
  readonly secret: EditingSecret;
  readonly disabled: boolean;
  readonly onOpened: (text: string) => void;
  /** Receives the picture that opened it, and forgets it when it is done. */
  readonly onOpenerHandedOver: (openerHandle: OpenerHandle) => void;
  /** The person decided to keep the stored content; what was opened of it is discarded. */
  readonly onContentKept: () => void;
}

/**
 * The content of the secret: kept as it is (the default), opened to be changed, or replaced without
 * being opened.
 */
export function EditContentSection({
  vault,
  secret,
  disabled,
  onOpened,
  onOpenerHandedOver,
  onContentKept,
}: EditContentSectionProps) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  const { control, setValue } = useFormContext<SecretDraft>();
  const keepsContent = useWatch({ control, name: "keepsContent" });
  const [opening, setOpening] = useState(false);
  const isFile = secret.contentKind === "file";

  const startEditing = (text: string) => {
    setValue("text", text, { shouldDirty: true });
    setValue("keepsContent", false, { shouldDirty: true });
    setOpening(false);
  };
  const handleOpened = (text: string) => {
    onOpened(text);
    startEditing(text);
  };
  const handleKeepContent = () => {
    onContentKept();
    setValue("text", "");
    setValue("file", null);
    setValue("kind", secret.contentKind);
    setValue("keepsContent", true, { shouldDirty: true });
  };
  if (!keepsContent) {
    return (
      <Stack $gap={4}>
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
          ? t("edit.file_body", { name: secret.name, size: getFormats(language).size(secret.size) })
          : t("edit.kept_body", { size: getFormats(language).size(secret.size) })}
      </SmallText>
      {opening ? (
        <OpenContentPanel
          vault={vault}
          secretId={secret.secretId}
          onOpened={handleOpened}
          onOpenerHandedOver={onOpenerHandedOver}
          onClose={() => {
            setOpening(false);
          }}
        />
      ) : (
        <SpacedRow>
          {!isFile && (
            <Button
              tone="quiet"
              disabled={disabled}
              icon={<Eye aria-hidden />}
              onClick={() => {
                setOpening(true);
              }}
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
    </Stack>
  );
}
