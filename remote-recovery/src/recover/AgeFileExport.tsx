import type { OpenedSecret } from "@relicario/shared/contract";
import { CopyButton, saveFile, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  Card,
  Dialog,
  ErrorNotice,
  markVerbatim,
  Muted,
  renderVerbatim,
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

/**
 * Exports the sealed file, its identity and the command that opens it with the standard `age` tool,
 * without this portal.
 */
export function AgeFileExport({ secret }: AgeFileExportProps) {
  const { t } = useTranslation("beta-recover");
  const dialog = useDialog();
  const { sealedName, identityName, command } = describeAgeFile(secret);
  const [requestedFile, setRequestedFile] = useState<"sealed" | "identity">("sealed");
  const { running, error, start } = useVaultOperation();

  // The vault returns the identity for this click only; the page does not keep it.
  const save = (next: "sealed" | "identity") => {
    setRequestedFile(next);
    start({
      run: () => secret.exportAgeFile(),
      onDone: ({ sealedContent, identity }) => {
        if (next === "sealed") saveFile(sealedName, sealedContent);
        else saveFile(identityName, formatIdentityFile(identity));
      },
    });
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
              pending={running && requestedFile === "sealed"}
              onClick={() => {
                save("sealed");
              }}
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
              pending={running && requestedFile === "identity"}
              onClick={() => {
                save("identity");
              }}
            >
              {t("age.identity_action")}
            </Button>
            <SmallText>{renderVerbatim(t("age.identity_hint", { name: markVerbatim(identityName) }))}</SmallText>
          </li>
          <li>
            <SmallText>{t("age.command_hint")}</SmallText>
            <Command tabIndex={0} translate="no" aria-label={t("age.command_aria")}>
              {command}
            </Command>
            <CopyButton label={t("age.copy_action")} getText={() => command} />
          </li>
        </Steps>
        <ErrorNotice error={error} />
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
