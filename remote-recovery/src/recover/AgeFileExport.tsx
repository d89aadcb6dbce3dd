import type { OpenedSecret } from "@relicario/shared/contract";
import { CopyButton, saveFile } from "@relicario/shared/forms";
import {
  Button,
  Card,
  Dialog,
  ErrorNotice,
  Muted,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
  useDialog,
} from "@relicario/shared/ui";
import { Download, FileLock2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { describeAgeFile, formatIdentityFile } from "./age-file.ts";

interface AgeFileExportProps {
  readonly secret: OpenedSecret;
}

type SaveState =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly part: "sealed" | "identity" }
  | { readonly status: "failed"; readonly error: unknown };

/**
 * The way out: the sealed file, what opens it, and the command, with the standard tool and without
 * this portal.
 */
export function AgeFileExport({ secret }: AgeFileExportProps) {
  const { t } = useTranslation("beta-recover");
  const dialog = useDialog();
  const { sealedName, identityName, command } = describeAgeFile(secret);
  const [saveState, setSaveState] = useState<SaveState>({ status: "idle" });

  // The identity leaves the vault for this one click and is not kept.
  const save = async (part: "sealed" | "identity") => {
    setSaveState({ status: "running", part });
    try {
      const { sealed, identity } = await secret.exportAgeFile();
      if (part === "sealed") saveFile(sealedName, sealed);
      else saveFile(identityName, formatIdentityFile(identity));
      setSaveState({ status: "idle" });
    } catch (error) {
      setSaveState({ status: "failed", error });
    }
  };
  return (
    <Card>
      <Stack $gap={3}>
        <SectionTitle>{t("age.title")}</SectionTitle>
        <Muted>{t("age.body")}</Muted>
        <SpacedRow>
          <Button tone="quiet" icon={<FileLock2 aria-hidden />} onClick={dialog.show}>
            {t("age.open_action")}
          </Button>
        </SpacedRow>
      </Stack>
      <Dialog open={dialog.open} onClose={dialog.onClose} title={t("age.title")} description={t("age.dialog_body")}>
        <Steps>
          <li>
            <Button
              tone="quiet"
              wide
              icon={<Download aria-hidden />}
              pending={saveState.status === "running" && saveState.part === "sealed"}
              onClick={() => void save("sealed")}
            >
              {t("age.sealed_action")}
            </Button>
            <SmallText>{sealedName}</SmallText>
          </li>
          <li>
            <Button
              tone="quiet"
              wide
              icon={<Download aria-hidden />}
              pending={saveState.status === "running" && saveState.part === "identity"}
              onClick={() => void save("identity")}
            >
              {t("age.identity_action")}
            </Button>
            <SmallText>{t("age.identity_hint", { name: identityName })}</SmallText>
          </li>
          <li>
            <SmallText>{t("age.command_hint")}</SmallText>
            <Command tabIndex={0} aria-label={t("age.command_aria")}>
              {command}
            </Command>
            <CopyButton label={t("age.copy_action")} text={() => command} />
          </li>
        </Steps>
        {saveState.status === "failed" && <ErrorNotice error={saveState.error} />}
      </Dialog>
    </Card>
  );
}

const Steps = styled.ol`
  display: flex;
  flex-direction: column;
  gap: ${space(4)};
  & > li {
    display: flex;
    flex-direction: column;
    gap: ${space(2)};
    min-width: 0;
    overflow-wrap: anywhere;
  }
`;

const Command = styled.code`
  display: block;
  padding: ${space(3)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  font-size: ${s("textSmall")};
  overflow-wrap: anywhere;
`;
