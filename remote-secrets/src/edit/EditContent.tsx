import { usePortal, type ShownImage, type Vault } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Label } from "@relicario/shared/forms";
import { Button, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { Eye, PenLine } from "lucide-react";
import { useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { ContentSection } from "../form/ContentSection.tsx";
import type { SecretDraft } from "../form/secret-draft.ts";
import { OpenContent } from "./OpenContent.tsx";
import type { EditingSecret } from "./secret-change.ts";

interface EditContentProps {
  readonly vault: Vault;
  readonly secret: EditingSecret;
  readonly disabled: boolean;
  readonly onOpened: (text: string) => void;
  /** Receives the picture that opened it, and forgets it when it is done. */
  readonly onHandedOver: (shown: ShownImage) => void;
  /** The person decided to keep the stored content; what was opened of it is discarded. */
  readonly onKept: () => void;
}

/**
 * The content of the secret: kept as it is (the default), opened to be changed, or replaced without
 * being opened.
 */
export function EditContent({ vault, secret, disabled, onOpened, onHandedOver, onKept }: EditContentProps) {
  const { t } = useTranslation("beta-add-secret");
  const { language } = usePortal();
  const { control, setValue } = useFormContext<SecretDraft>();
  const kept = useWatch({ control, name: "contentKept" });
  const [opening, setOpening] = useState(false);
  const isFile = secret.contentKind === "file";

  const startEditing = (text: string) => {
    setValue("text", text, { shouldDirty: true });
    setValue("contentKept", false, { shouldDirty: true });
    setOpening(false);
  };
  const handleOpened = (text: string) => {
    onOpened(text);
    startEditing(text);
  };
  const handleKeep = () => {
    onKept();
    setValue("text", "");
    setValue("file", null);
    setValue("kind", secret.contentKind);
    setValue("contentKept", true, { shouldDirty: true });
  };
  if (!kept) {
    return (
      <Stack $gap={4}>
        <ContentSection disabled={disabled} />
        <div>
          <Button tone="plain" size="small" disabled={disabled} onClick={handleKeep}>
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
          ? t("edit.file_body", { name: secret.name, size: formatsOf(language).size(secret.size) })
          : t("edit.kept_body", { size: formatsOf(language).size(secret.size) })}
      </SmallText>
      {opening ? (
        <OpenContent
          vault={vault}
          secretId={secret.secretId}
          onOpened={handleOpened}
          onHandedOver={onHandedOver}
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
